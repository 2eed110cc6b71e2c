import type { RunSummary, Step } from '../../../shared/api/runs.ts'
import type { Catalogue } from './block-description.ts'
import { nameOf } from './block-names.ts'
import type { Flow } from './flow.ts'

type Told = Pick<RunSummary, 'status'> & { readonly reply: { readonly status: number } | null }

/** In one word how it went, and the colour that says the same. */
export function outcomeOf({ status, reply }: Told): { readonly word: string; readonly color: string } {
  if (status === 'paused') return { word: 'Paused', color: 'sand' }
  if (status === 'running') return { word: 'Running', color: 'gray' }
  if (reply) {
    const color = reply.status < 300 ? 'petrol' : reply.status < 500 ? 'sand' : 'red'
    return { word: String(reply.status), color }
  }
  return status === 'failed' ? { word: 'Failed', color: 'red' } : { word: 'Done', color: 'petrol' }
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
export const recordedWords: Readonly<Record<RunSummary['recorded_as'], string>> = {
  traced: '',
  replay: 'run again, ',
  tried: 'tried, ',
  by_hand: 'by hand, ',
  failed: 'kept because it failed, ',
  refused: 'kept because it was refused, ',
}

/** What set a run off, where it was no request. */
export const triggerWords: Readonly<Record<RunSummary['trigger_type'], string>> = {
  http: 'Request',
  page: 'Page',
  function: 'Function',
  storage: 'Storage event',
  schedule: 'Schedule',
  failure: 'Failure',
}
