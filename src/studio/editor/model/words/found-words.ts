import { countsTexts } from '../../../texts/counts.ts'
import { modelTexts } from '../../../texts/model.ts'

/** `1 problem, 2 warnings`: problems keep a blueprint from running, warnings do not. */
export function foundWords(problems: number, warnings: number): string {
  const parts = [
    problems > 0 && countsTexts.problems(problems),
    warnings > 0 && countsTexts.warnings(warnings),
  ]
  return parts.filter((part) => part !== false).join(', ') || modelTexts.noProblems
}
