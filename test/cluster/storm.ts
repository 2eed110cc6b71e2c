/**
 * The proof of the cluster: three nodes under load, with schedules that fire each second and a route that is switched off
 * and on, while nodes are killed, PostgreSQL is stopped and killed, and wires are cut. Gives figures as plain data;
 * `violations` says which promises they break.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../src/shared/json.ts'
import { type FaultFigures, type FaultKind, inflict } from './faults.ts'
import { installOver } from './install-over.ts'
import { type NoteLoad, openNoteClients } from './note-clients.ts'
import { notesBlueprint, schedulesBlueprint, switchBlueprint } from './storm-blueprints.ts'
import {
  deadJobs,
  type NoteFigures,
  noteFigures,
  settled,
  type TickFigures,
  tickFigures,
} from './storm-evidence.ts'
import { type SwitchFigures, watchSwitch } from './switch-watch.ts'
import { openThreeNodes } from './three-nodes.ts'

export interface Storm extends NoteLoad {
  readonly schedules: number
  /** One after the other. */
  readonly faults: readonly FaultKind[]
  /** Under load alone: before the first fault, between two, and after the last. Milliseconds. */
  readonly calm: number
  /** Told what happens. */
  readonly tell?: (line: string) => void
  /** Environment variables of the nodes. */
  readonly settings?: Readonly<Record<string, string>>
  /** When it is aborted no further fault comes, and the storm ends without figures. */
  readonly signal?: AbortSignal
}

export interface StormFigures {
  /** Under load, seconds. */
  readonly lasted: number
  readonly clients: number
  readonly schedules: number
  readonly faults: readonly FaultFigures[]
  /** How often what was answered. */
  readonly statuses: Readonly<Record<string, number>>
  /** What no client may be answered. */
  readonly unexpected: readonly string[]
  /** Slowest answer, and longest time without any write, milliseconds. */
  readonly slowest: number
  readonly silence: number
  readonly notes: NoteFigures
  readonly ticks: TickFigures
  readonly switches: SwitchFigures
  /** Until everything that was begun was over, milliseconds. */
  readonly settled: number | 'never'
  readonly dead: readonly string[]
}

export async function storm(plan: Storm): Promise<StormFigures> {
  const { tell = () => undefined, schedules, faults, calm, signal } = plan
  const cluster = await openThreeNodes(plan.settings)
  const load: { stop(): Promise<void> }[] = []
  try {
    const { proxy, token, members } = cluster
    const asked = { address: proxy.address, token }
    const install = (blueprint: JsonObject) => installOver(asked.address, token, blueprint)
    await install(notesBlueprint)
    const guid = await install(switchBlueprint)
    await install(schedulesBlueprint(schedules))
    tell('installed')
    const began = performance.now()
    const clients = openNoteClients(proxy.address, plan)
    const nodes = () => members.map(({ address }) => address)
    const watch = watchSwitch({ ...asked, guid, nodes })
    load.push(clients, watch)
    const hit: FaultFigures[] = []
    await wait(calm, undefined, { signal })
    for (const kind of faults) {
      const figures = await inflict(kind, cluster)
      hit.push(figures)
      tell(`${kind}: ${figures.lasted} ms, served again after ${figures.recovered.join(', ')} ms`)
      await wait(calm, undefined, { signal })
    }
    await Promise.all(load.map((each) => each.stop()))
    const lasted = Math.round((performance.now() - began) / 1000)
    const until = Math.floor(Date.now() / 1000)
    const settling = await settled(asked, until)
    tell(`settled after ${settling} ms`)
    return {
      lasted,
      clients: plan.clients,
      schedules,
      faults: hit,
      statuses: Object.fromEntries([...clients.statuses].sort()),
      unexpected: clients.unexpected,
      slowest: Math.round(clients.slowest),
      silence: Math.round(clients.silence),
      notes: await noteFigures(asked, clients),
      ticks: await tickFigures(asked, until),
      switches: watch.figures,
      settled: settling,
      dead: await deadJobs(asked),
    }
  } catch (error) {
    // No requests are left when the nodes are gone: a part that comes later has the machine to itself.
    await Promise.allSettled(load.map((each) => each.stop()))
    if (signal?.aborted) throw error
    for (const member of cluster.members) tell(`${member.name} printed:\n${member.output().slice(-4000)}`)
    throw error
  } finally {
    await cluster.close()
  }
}
