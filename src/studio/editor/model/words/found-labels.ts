import { countsTexts, modelTexts } from '../../../texts/model.ts'

/** `1 problem, 2 warnings`: problems keep a blueprint from running, as fields do that are still to be filled in; warnings do not. */
export function foundLabels(problems: number, warnings: number, needed = 0): string {
  const parts = [
    problems > 0 && countsTexts.problems(problems),
    needed > 0 && countsTexts.neededFields(needed),
    warnings > 0 && countsTexts.warnings(warnings),
  ]
  return parts.filter((part) => part !== false).join(', ') || modelTexts.noProblems
}
