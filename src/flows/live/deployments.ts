/**
 * Requests run on a copy of the saved blocks: a deployment. Every deployment is stored, numbered per blueprint.
 *
 * Activating: the saved blocks are compiled; every problem is listed (422) and nothing changes; URIs and function names
 * that another active blueprint holds are refused (409); storages and indexes are made; the deployment and `active` are
 * written in one transaction; then the compiled blueprint replaces the former one in one step. The whole cluster does one
 * activation at a time, so that two activations cannot both find a URI free.
 *
 * Other nodes watch the storage of blueprints: before a write to it is acknowledged, each node has read the blueprint's
 * record again and serves the deployment that it names.
 */

import type { ExtensionCatalogue } from '../../records/extensions/extensions.ts'
import { type Actor, getRecord, type RecordContext, savedBlocks } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { oneAtATime, pauses } from '../../shared/cooperative.ts'
import type { JsonObject } from '../../shared/json.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type CompiledBlueprint, compileToRun } from '../compile/compile-blueprint.ts'
import { type Difference, differences } from './block-differences.ts'
import { type Checked, checkBlocks } from './check-candidate.ts'
import { type Deployer, type DeployParts, deactivateBlueprint, deployBlueprint } from './deploy-blueprint.ts'
import { followDeployments } from './follow-deployments.ts'
import type { LiveBlueprints } from './live-blueprints.ts'

export interface Deployments {
  /** Deploys the saved blocks and makes them answer. INSUFFICIENT_PERMISSIONS for a page that `by` may not take. */
  activate(guid: string, by: Deployer): Promise<JsonObject>
  /** Deploys without a gap; an inactive blueprint stays inactive. As `activate` for an active one. */
  deploy(guid: string, by: Deployer): Promise<JsonObject>
  deactivate(guid: string, by: Actor): Promise<JsonObject>
  /** Deploys the blocks of a former version as a new one. The saved blocks stay as they are. */
  rollBack(guid: string, number: number, by: Deployer): Promise<JsonObject>
  /** Several deploys as one: `work` has what a deploy works with, and nothing else is deployed in the cluster meanwhile. */
  together<T>(work: (parts: DeployParts) => Promise<T>): Promise<T>
  /** What would keep blocks from being deployed, and what would only be said. Changes nothing. */
  check(guid: string, blocks: readonly Block[]): Promise<Checked>
  /** The blocks that differ between saved and deployed. */
  pending(guid: string): Promise<Difference[]>
  /** At start: compiles and serves whatever is active; what cannot be stays off until it is repaired, and is logged. */
  restore(): Promise<void>
  /** Stops to follow what other nodes deploy. */
  close(): void
}

export function openDeployments(
  context: RecordContext,
  extensions: ExtensionCatalogue,
  live: LiveBlueprints,
  {
    log,
    present,
    compiledBefore,
  }: Pick<DeployParts, 'log' | 'present'> & {
    readonly compiledBefore?: ReadonlyMap<string, CompiledBlueprint> | undefined
  },
): Deployments {
  const { database } = context
  const alone = <T>(work: () => Promise<T>) => database.capabilities.withClusterLock('deployments', work)
  // Of this node: what it hears from others and what it reads at its start.
  const inTurn = oneAtATime()
  const watched = followDeployments({
    ...{ context, live, log },
    compile: async (guid, deployed) =>
      compileToRun(
        guid,
        deployed.blocks,
        await extensions.withVersions(deployed.extensions),
        {},
        live.table().blueprints.get(guid)?.compiled ?? compiledBefore?.get(guid),
      ),
  })
  const unwatch = database.capabilities.changes.watch(systemStorages.blueprints, (guids) =>
    inTurn('follow', () => (guids ? watched.follow(guids) : watched.restore())),
  )
  const parts: DeployParts = {
    ...{ context, catalogue: extensions.present, extensions, live, log, present },
    deployed: (session, record) => watched.deployed(session, record),
    // Behind a restore that has read the former state.
    serve: (changes) => inTurn('follow', async () => live.setAll(changes)),
  }

  return {
    activate: (guid, by) => alone(() => deployBlueprint(parts, { guid, by, activate: true })),
    deploy: (guid, by) => alone(() => deployBlueprint(parts, { guid, by, activate: false })),
    rollBack: (guid, version, by) =>
      alone(() => deployBlueprint(parts, { guid, by, activate: false, version })),
    deactivate: (guid, by) => alone(() => deactivateBlueprint(parts, guid, by)),
    together: (work) => alone(() => work(parts)),
    check: (guid, blocks) => checkBlocks(parts, guid, blocks),
    async pending(guid) {
      const session = database.session()
      const record = await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
      const { blocks } = await watched.deployed(session, record)
      return differences(blocks, await savedBlocks(context, session, guid), pauses())
    },
    restore: () => inTurn('follow', () => watched.restore()),
    close: unwatch,
  }
}
