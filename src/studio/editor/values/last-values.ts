/** What blocks got and gave in the last run that passed each, and whether they are still what they were then. */
import { blockMark } from '../../../expressions/language/rename-names.ts'
import type { LastStep, LastValues } from '../../../shared/api/blueprints/last-values.ts'
import type { RunSummary } from '../../../shared/api/blueprints/runs.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { runsTexts } from '../../texts/runs.ts'
import type { Flow } from '../model/flow.ts'

export interface BlockLast {
  readonly step: LastStep
  readonly run: RunSummary
  readonly isChanged: boolean
}

/** In a word which run it is that values are of. */
export const lastWords: Readonly<Record<RunSummary['recorded_as'], string>> = {
  traced: runsTexts.tracedRun,
  replay: runsTexts.runAgainLabel,
  tried: 'tried',
  by_hand: runsTexts.runByHand,
  failed: runsTexts.failedRun,
  refused: runsTexts.refusedRequest,
  sampled: runsTexts.recordedRequest,
}

const marks = new WeakMap<BlockContent, string>()

function markOf(content: BlockContent): string {
  const mark = marks.get(content) ?? blockMark(content)
  marks.set(content, mark)
  return mark
}

/** By block. One that is no longer drawn has none. */
export function lastByBlock({ runs, steps }: LastValues, flow: Flow): ReadonlyMap<string, BlockLast> {
  const byGuid = new Map(runs.map((run) => [run.guid, run]))
  return new Map(
    steps.flatMap((step): [string, BlockLast][] => {
      const content = flow.get(step.block)
      const run = byGuid.get(step.run)
      if (!content || !run) return []
      return [[step.block, { step, run, isChanged: step.mark !== '' && step.mark !== markOf(content) }]]
    }),
  )
}

export function sameLast(a: BlockLast | undefined, b: BlockLast | undefined): boolean {
  return a?.step === b?.step && a?.run.guid === b?.run.guid && a?.isChanged === b?.isChanged
}
