// Governs a LangChain.js agent: `createAgent({ …, middleware: [middleware(lictor)] })`. The model reads a refusal as a tool
// message with the status `error`.

import { Blocked, actionOf } from './index.js';

/**
 * A middleware with `wrapToolCall`. `createMiddleware` and `ToolMessage` are passed in, so that this package depends on
 * nothing: `middleware(lictor, { createMiddleware, ToolMessage })`.
 */
export function middleware(lictor, { createMiddleware, ToolMessage, session_id, cwd, kinds }) {
  return createMiddleware({
    name: 'lictor',
    async wrapToolCall(request, handler) {
      const { name, args, id } = request.toolCall;
      const thread = session_id ?? request.runtime?.configurable?.thread_id;
      const action = actionOf({ name, args, id, session_id: thread, cwd, kinds });
      try {
        const { result, feedback } = await lictor.govern(action, () => handler(request));
        if (feedback.length > 0 && typeof result?.content === 'string') {
          result.content = `${result.content}\n\n${feedback.join('\n')}`;
        }
        return result;
      } catch (error) {
        if (!(error instanceof Blocked)) throw error;
        return new ToolMessage({ content: error.message, tool_call_id: id, name, status: 'error' });
      }
    },
  });
}
