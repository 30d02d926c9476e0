export type Decision = 'pass' | 'warn' | 'ask' | 'block';
export interface Action {
  kind: string;
  payload: Record<string, unknown>;
  tool?: string;
  session_id?: string;
  cwd?: string;
  task_type?: string;
  tool_use_id?: string;
  agent?: string;
  user?: string;
  tenant?: string;
  chain?: string[];
  tier?: string;
}
export interface Evaluation {
  decision: Decision;
  reason: string;
  fix: string;
  /** What the model may read instead, where a check failed. */
  for_agent?: { reason: string; fix: string };
  risk: number;
  id?: number | string;
  asked?: unknown[];
  verdicts: unknown[];
  violations: unknown[];
  trace: unknown[];
}
export interface Outcome {
  success: boolean;
  exit_code?: number;
  error?: string;
  changed?: string[];
  duration_ms?: number;
  usage?: { tokens?: number; cost?: number };
}
export interface Feedback { provider: string; text: string }
export interface Posted { standing: string; feedback: Feedback[] }
export interface StopRequest { session_id: string; agent?: string; output?: string; reason?: 'done' | 'aborted'; subagent?: boolean | string }
export interface PromptRequest { session_id: string; agent?: string; name?: string; text?: string }
export interface Limit { kinds?: string[]; tools?: string[]; dirs?: string[]; hosts?: string[]; read_only?: boolean }
export interface DelegateRequest { parent: string; child: string; limit?: Limit; agent?: string }
export interface Finding { plan: string; level: 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL'; title: string; agent?: string; evidence?: string[]; rationale?: string; id?: string }
export type GateEvent = 'pre-commit' | { 'pre-push': { local?: string; remote?: string }[] } | { ci: { base?: string } };
export interface StopAnswer {
  outcome: 'complete' | 'incomplete' | 'bypassed' | 'released_unmet';
  reasons: string[];
  round: number;
}
export type Answer = boolean | { approved: boolean; reason?: string };
export interface Options {
  cwd?: string;
  binary?: string;
  args?: string[];
  onAsk?: (evaluation: Evaluation) => boolean | Answer[] | Promise<boolean | Answer[]>;
}
export class LictorError extends Error {
  fix: string;
  code?: number;
  data?: unknown;
}
export class Blocked extends LictorError {
  reason: string;
  evaluation: Evaluation;
}
export class Lictor {
  constructor(options?: Options);
  call(method: string, params?: object): Promise<any>;
  evaluate(action: Action, mode?: string): Promise<Evaluation>;
  post(action: Action, outcome: Outcome): Promise<Posted>;
  stop(request: StopRequest): Promise<StopAnswer>;
  resolve(id: number | string, answers: Answer[]): Promise<Evaluation>;
  prompt(request: PromptRequest): Promise<any>;
  delegate(request: DelegateRequest): Promise<any>;
  session(session_id: string, agent?: string): Promise<any>;
  reset(session_id: string, agent?: string): Promise<any>;
  end(session_id: string, agent?: string): Promise<any>;
  approvals(): Promise<any[]>;
  record(finding: Finding): Promise<{ id: string; plan: string; level: string; open: boolean }>;
  gate(event: GateEvent): Promise<any>;
  permit(action: Action): Promise<Evaluation>;
  govern<T>(call: Action | ToolCall, run: () => T | Promise<T>): Promise<{ result: T; evaluation: Evaluation; feedback: string[] }>;
  close(): Promise<void>;
}
export interface ToolCall {
  name: string;
  args?: Record<string, unknown>;
  id?: string;
  session_id?: string;
  cwd?: string;
  kinds?: Record<string, string>;
}
export function actionOf(call: ToolCall): Action;
export function program(): string;
