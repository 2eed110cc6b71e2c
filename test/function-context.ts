import type { FunctionContext } from '../src/expressions/language/function-declaration.ts'

/** Half past eight on 31 January 2026, UTC. */
const testNow = Date.UTC(2026, 0, 31, 8, 30)

/** A world for bodies of functions: a fixed clock, bytes that count up, and what was spent. */
export function functionContext(
  changes: Partial<FunctionContext> = {},
): FunctionContext & { spent(): number } {
  let spent = 0
  let byte = 0
  return {
    now: () => testNow,
    random: (bytes) => Uint8Array.from({ length: bytes }, () => byte++ & 0xff),
    timeZone: 'UTC',
    locale: 'en-US',
    spend: (elements) => {
      spent += elements
    },
    spent: () => spent,
    ...changes,
  }
}
