/**
 * Recorded runs of the blueprints that a push changes, repeated on the new blocks before these are live. Storages and fields are
 * those of the old release meanwhile; values of renamed and converted fields are in the documents already.
 */
import type { CompiledBlueprint } from '../flows/compile/compile-blueprint.ts'
import type { RunsToCompare } from '../flows/trace/compare-runs.ts'
import type { ComparedRuns } from '../shared/api/blueprints/runs.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { numberIn } from '../storage/document-fields.ts'
import type { Publisher } from './apply-release.ts'
import type { TriedRelease } from './plan-release.ts'
import type { PresentApplication } from './present-application.ts'

export interface Verification {
  /** Of each blueprint, the newest first. */
  readonly runs: number
  /** Keys of differences that are meant. */
  readonly accepted: readonly string[]
}

/** How the runs of one blueprint ended; those that differ are accepted. */
export interface VerifiedBlueprint {
  /** Of the folder: `blueprints/deals.json`. */
  readonly file: string
  readonly compared: number
  readonly same: number
  /** Keys. */
  readonly accepted: readonly string[]
  /** Differences that were accepted for this deploy before. */
  readonly remembered: number
  /** Runs that cannot be repeated. */
  readonly skipped: number
  readonly left: number
  /** Blocks by name, with their medians in microseconds: no reason to refuse. */
  readonly slower: readonly {
    readonly block: string
    readonly deployed_us: number
    readonly candidate_us: number
  }[]
}

interface ChangedBlueprint {
  readonly file: string
  readonly guid: string
  readonly compiled: CompiledBlueprint
  readonly isDeployed: boolean
}

export interface ToVerify extends Verification {
  readonly toVerify: readonly ChangedBlueprint[]
}

export type CompareRuns = (asked: RunsToCompare) => Promise<ComparedRuns>

const MOST_NAMED = 200

/** Not those that are created, of which nothing is recorded, and not those that are removed: the plan names what is gone. */
export function toVerify(
  verify: Verification,
  { plan, compiled }: Pick<TriedRelease, 'plan' | 'compiled'>,
  present: PresentApplication,
): ToVerify {
  const found = plan.changes.flatMap(({ map, object, change }) => {
    const guid = present.objects.blueprints[object]
    const next = guid === undefined ? undefined : compiled.get(guid)
    if (map !== 'blueprints' || change !== 'changed' || guid === undefined || !next) return []
    const isDeployed = numberIn(present.blueprints[object]?.record.version) > 0
    return [{ file: `blueprints/${object}.json`, guid, compiled: next, isDeployed }]
  })
  return { ...verify, toVerify: found }
}

/** CONFLICT with every difference that is not accepted. All blueprints share the time until `until`. */
export async function verifyChanged(
  compare: CompareRuns,
  { toVerify: changed, runs, accepted }: ToVerify,
  { by: { actor, deployer }, until }: { readonly by: Publisher; readonly until: number },
): Promise<readonly VerifiedBlueprint[]> {
  const verified: VerifiedBlueprint[] = []
  const refused: JsonObject[] = []
  for (const { file, guid, compiled, isDeployed } of changed) {
    const found = isDeployed
      ? await compare({
          ...{ blueprint: guid, candidate: compiled, runs, accepted, rememberedBy: actor, until },
          lacks: deployer.lacks,
        })
      : { compared: 0, same: 0, differences: [], skipped: [], remembered: 0, left: 0, slower: [] }
    const { compared, same, differences, skipped, remembered, left } = found
    refused.push(...differences.filter((one) => !one.accepted).map((one) => shownDifference(file, one)))
    const keys = differences.filter((one) => one.accepted).map(({ key }) => key)
    const nameOf = (guid: string) => compiled.blocks.find((one) => one.guid === guid)?.name ?? guid
    const slower = found.slower.map(({ block, deployed_us, candidate_us }) => ({
      ...{ block: nameOf(block), deployed_us, candidate_us },
    }))
    verified.push({ file, compared, same, accepted: keys, remembered, skipped: skipped.length, left, slower })
  }
  if (refused.length === 0) return verified
  throw new QuoinError(
    'CONFLICT',
    `Recorded runs differ on the new blocks (${refused.length}, see details). Accept a difference that is meant with --accept <key> (verify.accepted).`,
    { details: { differences: refused.slice(0, MOST_NAMED) } },
  )
}

/** Without bodies: the recorded run has them. */
function shownDifference(file: string, difference: ComparedRuns['differences'][number]): JsonObject {
  const { key, run, label, kind, paths, deployed, candidate } = difference
  return {
    ...{ key, file, run, label, kind, paths },
    deployed: { status: deployed.status, error: deployed.error },
    candidate: { status: candidate.status, error: candidate.error },
  }
}
