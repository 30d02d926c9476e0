import type { Lictor } from './index.js';
export interface GovernOptions {
  session_id?: string;
  cwd?: string;
  kinds?: Record<string, string>;
}
/** The same tools, each of them judged before it runs. `ungoverned` lists those that run elsewhere. */
export function govern<T extends Record<string, any>>(lictor: Lictor, tools: T, options?: GovernOptions): T & { readonly ungoverned: string[] };
