import type { RunSummary, Step } from '../../../../shared/api/blueprints/runs.ts'
import { modelTexts } from '../../../texts/editor.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { nameOf } from '../words/block-names.ts'

type RunReport = Pick<RunSummary, 'status'> & { readonly reply: { readonly status: number } | null }

/** In one word how it went, and the colour that says the same. */
export function outcomeOf({ status, reply }: RunReport): { readonly word: string; readonly color: string } {
  if (status === 'paused') return { word: modelTexts.paused, color: 'sand' }
  if (status === 'running') return { word: modelTexts.running, color: 'gray' }
  if (reply) {
    const color = reply.status < 300 ? 'petrol' : reply.status < 500 ? 'sand' : 'red'
    return { word: String(reply.status), color }
  }
  return status === 'failed'
    ? { word: modelTexts.failed, color: 'red' }
    : { word: modelTexts.done, color: 'petrol' }
}

/** What a person calls the block of a step, also where it is drawn no longer, or stands in another blueprint. */
export function stepName(
  { block, type }: Pick<Step, 'block' | 'type'>,
  flow: Flow,
  catalogue: Catalogue,
): string {
  const content = flow.get(block)
  return content ? nameOf(content, catalogue) : (catalogue.get(type)?.title ?? type)
}

/** How a run came to be in the list, where that has to be said. */
export const recordedLabels: Readonly<Record<RunSummary['recorded_as'], string>> = {
  traced: '',
  replay: modelTexts.runAgain,
  tried: modelTexts.tried,
  by_hand: modelTexts.byHand,
  failed: modelTexts.recordedFailed,
  refused: modelTexts.recordedRefused,
  sampled: modelTexts.recordedToRepeat,
}

/** What set a run off, where it was no request. */
export const triggerLabels: Readonly<Record<RunSummary['trigger_type'], string>> = {
  http: modelTexts.request,
  page: modelTexts.pageLabel,
  function: modelTexts.function,
  storage: modelTexts.storageEvent,
  schedule: modelTexts.schedule,
  failure: modelTexts.failure,
}
