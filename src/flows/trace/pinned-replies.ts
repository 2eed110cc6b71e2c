/**
 * Recorded replies that a builder has pinned to blocks while building: a try of saved or staged blocks gives them in place of
 * calls of other servers. A pin names the run that has the reply; deployed blocks never use one.
 */
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { recordOf } from './find-runs.ts'
import { outsideSteps, type PinnedReplies } from './recorded-outside.ts'
import { detailOf, isUnderWay } from './run-record.ts'
import type { Tracing } from './tracing.ts'

/** Guids. */
export interface PinnedReply {
  readonly block: string
  readonly run: string
}

/** Throws INVALID_BODY for deployed blocks, CONFLICT for a run that is gone or has no such reply. */
export async function pinnedReplies(
  tracing: Tracing,
  blueprint: string,
  state: string,
  pinned: readonly PinnedReply[],
): Promise<PinnedReplies> {
  if (pinned.length > 0 && state === 'deployed')
    throw invalidField('pinned', 'Pinned replies are for saved and staged blocks, not for deployed ones.')
  const runs = new Map<string, Map<string, JsonObject[]>>()
  const replies = new Map<string, readonly JsonObject[]>()
  for (const { block, run } of pinned) {
    const steps = runs.get(run) ?? (await stepsOf(tracing, blueprint, run))
    runs.set(run, steps)
    const found = steps.get(block)
    if (!found)
      throw new QuoinError(
        'CONFLICT',
        `The run ${run} has no reply of the block ${block}. Unpin it, or pin another run.`,
      )
    replies.set(block, found)
  }
  return replies
}

async function stepsOf(tracing: Tracing, blueprint: string, run: string): Promise<Map<string, JsonObject[]>> {
  const record = await recordOf(tracing, run).catch((error: unknown) => {
    const gone = error instanceof QuoinError && error.code === 'NOT_FOUND'
    throw gone
      ? new QuoinError('CONFLICT', `The run ${run} of a pinned reply is no longer kept. Unpin the reply.`)
      : error
  })
  if (record.blueprint !== blueprint)
    throw new QuoinError('CONFLICT', `The run ${run} is of another blueprint.`)
  if (isUnderWay(record)) throw new QuoinError('CONFLICT', `The run ${run} has not ended yet.`)
  return outsideSteps(detailOf(record))
}
