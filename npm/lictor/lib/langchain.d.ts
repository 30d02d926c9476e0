import type { Lictor } from './index.js';
export interface MiddlewareOptions {
  createMiddleware: (definition: any) => any;
  ToolMessage: new (fields: any) => any;
  session_id?: string;
  cwd?: string;
  kinds?: Record<string, string>;
}
export function middleware(lictor: Lictor, options: MiddlewareOptions): any;
