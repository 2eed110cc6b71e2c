/**
 * Brings what this node serves to what the records of blueprints say: all of it at its start, and a few when another node
 * has written them.
 */

import { Compile } from 'typebox/compile'
import { type ExtensionVersions, readVersions } from '../../records/extensions/extensions.ts'
import { findRecords, type RecordContext } from '../../records/records.ts'
import type { SystemLog } from '../../records/system-log.ts'
import { type Block, BlockContent } from '../../shared/blueprint.ts'
import { type Pause, pauses, runCooperatively } from '../../shared/cooperative.ts'
import type { JsonObject } from '../../shared/json.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { findCooperatively } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type CompiledBlueprint, refusedBlueprint } from '../compile/compile-blueprint.ts'
import { asProblem } from '../compile/notes/deploy-note.ts'
import type { LiveBlueprint, LiveBlueprints } from './live-blueprints.ts'

export interface Deployed {
  /** 0 for nothing. */
  readonly number: number
  readonly blocks: readonly Block[]
  /** That its blocks are of. */
  readonly extensions: ExtensionVersions
  /** What is stored are no blocks, so there are none here: the next deploy takes its place, whatever it has. */
  readonly isUnreadable?: true
}

export interface DeploymentFollower {
  /** What is deployed of a blueprint. Never throws for what is stored. */
  deployed(session: Session, record: JsonObject): Promise<Deployed>
  /** Serves whatever is active; what cannot be stays off until it is repaired, and is logged. */
  restore(): Promise<void>
  /** The same for a few blueprints. */
  follow(guids: readonly string[]): Promise<void>
}

export interface FollowDeploymentsOptions {
  readonly context: RecordContext
  readonly live: LiveBlueprints
  readonly log: SystemLog['write']
  /** Throws for blocks that cannot run. */
  readonly compile: (guid: string, deployed: Deployed) => Promise<CompiledBlueprint>
}

/** Deployments that are read in one search: each is some kilobytes, or a megabyte where there are a thousand blocks. */
const READ_AT_ONCE = 50

const nothing: Deployed = { number: 0, blocks: [], extensions: {} }

export function followDeployments(options: FollowDeploymentsOptions): DeploymentFollower {
  return new FollowingNode(options)
}

class FollowingNode implements DeploymentFollower {
  readonly #options: FollowDeploymentsOptions
  readonly #readBlock = Compile(BlockContent)

  constructor(options: FollowDeploymentsOptions) {
    this.#options = options
  }

  async deployed(session: Session, { deployment_guid: guid }: JsonObject): Promise<Deployed> {
    const stored = typeof guid === 'string' ? await session.get(systemStorages.deployments, guid) : undefined
    if (!stored) return nothing
    const pause = pauses()
    await runCooperatively(stored.inSteps(), pause)
    const deployment = documentOf(stored)
    try {
      return await this.#read(deployment, pause)
    } catch {
      // Its start has logged why.
      return { ...nothing, number: numberIn(deployment.number), isUnreadable: true }
    }
  }

  async restore(): Promise<void> {
    const { context, live } = this.#options
    const session = context.database.session()
    const query = { kind: 'term', field: 'active', value: true } as const
    const active = await findRecords(session, systemStorages.blueprints, query)
    const guids = new Set(active.map(guidOf))
    const gone = [...live.table().blueprints.keys()].filter((guid) => !guids.has(guid))
    live.setAll(new Map(gone.map((guid) => [guid, undefined])))
    await this.#serve(session, active)
  }

  async follow(guids: readonly string[]): Promise<void> {
    const { context, live } = this.#options
    const session = context.database.session()
    const active: JsonObject[] = []
    const off = new Map<string, undefined>()
    for (const guid of guids) {
      const stored = await session.get(systemStorages.blueprints, guid)
      const record = stored && documentOf(stored)
      if (record?.active === true) active.push(record)
      else if (live.table().blueprints.has(guid)) off.set(guid, undefined)
    }
    // First: what is freed here may be taken there.
    live.setAll(off)
    await this.#serve(session, active)
  }

  /** Serves the deployments of these records. One that does not compile is switched off and logged; the others are served. */
  async #serve(session: Session, records: readonly JsonObject[]): Promise<void> {
    const { live, compile } = this.#options
    const changes = new Map<string, LiveBlueprint | undefined>()
    const pause = pauses()
    for (let at = 0; at < records.length; at += READ_AT_ONCE) {
      const some = records.slice(at, at + READ_AT_ONCE)
      const deployments = await deploymentsOf(session, some, pause)
      for (const record of some) {
        const guid = guidOf(record)
        const name = textIn(record.name)
        const serving = live.table().blueprints.get(guid)
        try {
          const deployed = await this.#read(deployments.get(textIn(record.deployment_guid)), pause)
          const { number, extensions } = deployed
          if (serving?.deployment === number && serving.name === name) continue
          const compiled = await compile(guid, deployed)
          changes.set(guid, { compiled, name, deployment: number, extensions })
          this.#logRefused(compiled, name)
        } catch (error) {
          // Not the former deployment either: the reply to the deploy said that every node serves the new one.
          changes.set(guid, undefined)
          this.#logOff(guid, name, error)
        }
      }
    }
    this.#setEach(changes)
  }

  /** Throws for blocks that are none. */
  async #read(deployment: JsonObject | undefined, pause: Pause): Promise<Deployed> {
    if (!deployment) return nothing
    const blocks: Block[] = []
    for (const block of objectsIn(deployment.blocks)) {
      blocks.push({ guid: textIn(block.guid), ...this.#readBlock.Parse(block) })
      await pause()
    }
    return { number: numberIn(deployment.number), blocks, extensions: readVersions(deployment.extensions) }
  }

  /** All at once; if they conflict, one by one, without those that conflict. */
  #setEach(changes: ReadonlyMap<string, LiveBlueprint | undefined>): void {
    const { live } = this.#options
    try {
      live.setAll(changes)
      return
    } catch {
      // The loop below finds out which one it was.
    }
    for (const [guid, next] of changes) {
      try {
        live.set(guid, next)
      } catch (error) {
        live.set(guid, undefined)
        this.#logOff(guid, next?.name ?? guid, error)
      }
    }
  }

  /** What was deployed before it was refused runs as it did. */
  #logRefused({ guid, blocks, notes }: CompiledBlueprint, name: string): void {
    const refused = notes.filter((note) => note.refused).map(asProblem)
    if (refused.length === 0) return
    const { message } = refusedBlueprint('will be refused at its next deploy', refused, blocks)
    const reported = `The active blueprint "${name}" runs as before. ${message}`
    this.#options.log({ level: 'warn', message: reported, blueprint: guid })
  }

  #logOff(blueprint: string, name: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    const message = `The active blueprint "${name}" could not be started: ${why}`
    this.#options.log({ level: 'error', message, blueprint })
  }
}

/** By their guid. */
async function deploymentsOf(
  session: Session,
  records: readonly JsonObject[],
  pause: Pause,
): Promise<ReadonlyMap<string, JsonObject>> {
  const values = records.flatMap(({ deployment_guid: guid }) => (typeof guid === 'string' ? [guid] : []))
  const query = { kind: 'terms', field: '_meta.guid', values } as const
  const requested = { query, limit: READ_AT_ONCE, sort: [] }
  const found = await findCooperatively(session, systemStorages.deployments, requested, pause)
  return new Map(found.map((deployment) => [guidOf(deployment), deployment]))
}
