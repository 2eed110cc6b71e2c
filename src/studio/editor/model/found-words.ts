import { count } from './words.ts'

/** `1 problem, 2 warnings`: problems keep a blueprint from running, warnings do not. */
export function foundWords(problems: number, warnings: number): string {
  const parts = [problems > 0 && count(problems, 'problem'), warnings > 0 && count(warnings, 'warning')]
  return parts.filter((part) => part !== false).join(', ') || 'No problems'
}
