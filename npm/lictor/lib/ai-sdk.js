// Governs the tools of the AI SDK: `tools: govern(lictor, tools)`. A block is thrown by the tool, which the SDK hands to
// the model as a tool error; feedback is appended to the result.

import { actionOf } from './index.js';

/** The same tools, each of them judged before it runs. Tools without `execute` run elsewhere: `ungoverned` lists them. */
export function govern(lictor, tools, { session_id, cwd, kinds } = {}) {
  const governed = {};
  const ungoverned = [];
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool.execute !== 'function') {
      ungoverned.push(name);
      governed[name] = tool;
      continue;
    }
    governed[name] = {
      ...tool,
      async execute(args, options = {}) {
        const action = actionOf({ name, args, id: options.toolCallId, session_id, cwd, kinds });
        const { result, feedback } = await lictor.govern(action, () => lastOf(tool.execute(args, options)));
        return feedback.length === 0 ? result : withFeedback(result, feedback);
      },
    };
  }
  Object.defineProperty(governed, 'ungoverned', { value: ungoverned, enumerable: false });
  return governed;
}

/** A tool may yield its result in pieces: it is done, and can fail, only with the last one. */
async function lastOf(made) {
  if (typeof made?.[Symbol.asyncIterator] !== 'function') return made;
  let last;
  for await (last of made);
  return last;
}

function withFeedback(result, feedback) {
  const text = feedback.join('\n');
  return typeof result === 'string' ? `${result}\n\n${text}` : { result, feedback: text };
}
