import type { BlockDefinition } from '../../blocks/block.ts'
import type { RecordContext } from '../../records/records.ts'
import { boundedMap } from '../../shared/bounded-map.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { compileToRun } from '../compile/compile-blueprint.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import { flowsOf } from './flows-of.ts'
import type { LiveBlueprint, LiveBlueprints } from './live-blueprints.ts'
import { getVersion } from './versions.ts'

export interface FormerVersions {
  /** A deployment of an active blueprint, compiled; the present one where the number is 0. NOT_FOUND if there is none. */
  compiled(live: LiveBlueprint, deployment: number): Promise<CompiledBlueprint>
  /** The number of the deployment that a flow is of, also when another one has taken its place since the run began. */
  deploymentOf(flow: CompiledFlow, blueprint: string): number | undefined
  close(): void
}

/** Blocks of all versions that are held: 5,000 blocks take about 10 MB. */
const MOST_BLOCKS = 5_000

export function formerVersions(
  context: RecordContext,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  live: LiveBlueprints,
): FormerVersions {
  const compiledBefore = boundedMap<string, Promise<CompiledBlueprint>>(MOST_BLOCKS)
  const deployments = new WeakMap<CompiledFlow, number>()
  const seen = new WeakSet<CompiledBlueprint>()

  const unwatch = live.watch(({ blueprints }) => {
    for (const { compiled, deployment } of blueprints.values()) {
      if (seen.has(compiled)) continue
      seen.add(compiled)
      for (const flow of flowsOf(compiled)) if (flow.resumePoints) deployments.set(flow, deployment)
    }
  })

  async function compile(guid: string, number: number): Promise<CompiledBlueprint> {
    const { blocks } = await getVersion(context, guid, number)
    return compileToRun(guid, blocks, catalogue)
  }

  return {
    async compiled({ compiled, deployment }, number) {
      if (number === 0 || number === deployment) return compiled
      const key = `${compiled.guid} ${number}`
      const known = compiledBefore.get(key)
      if (known) return known
      const compiling = compile(compiled.guid, number)
      compiling.catch(() => compiledBefore.delete(key))
      compiledBefore.set(key, compiling)
      const version = await compiling
      compiledBefore.set(key, compiling, Math.max(1, version.blocks.length))
      return version
    },
    deploymentOf: (flow, blueprint) =>
      deployments.get(flow) ?? live.table().blueprints.get(blueprint)?.deployment,
    close: unwatch,
  }
}
