import type { BlockServices } from '../../blocks/block-services.ts'
import type { Cache, FlowContext, LogLevel } from '../../blocks/context.ts'
import type { Permissions } from '../../records/permissions/permissions.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Translations } from '../../shared/texts/translations.ts'
import type { Database } from '../../storage/database.ts'
import type { References } from '../../storage/reference/references.ts'
import type { CompiledFlow, CompiledFunction, NamedConnection, RunSecrets } from '../compile/frame.ts'
import type { Message } from './message-buffer.ts'
import type { RunningFlow } from './running-flow.ts'

export interface RunLimits {
  /** Milliseconds from start to the last block. */
  readonly deadline: number
  /** Blocks executed, value blocks included. */
  readonly budget: number
  /** Custom functions that call each other. */
  readonly depth: number
}

/** What expressions see of the cluster. */
export interface RunValues {
  /** IANA. */
  readonly timeZone: string
  /** BCP 47. */
  readonly locale: string
  readonly random: Random
  /** Values of the environment, by name: the same object until one of them changes. */
  readonly env: () => JsonObject
}

/** What all runs of a node share. */
export interface RunEnvironment {
  readonly database: Pick<Database, 'session'>
  /** Sessions of blocks with "as: user". */
  readonly permissions: Pick<Permissions, 'session' | 'none'>
  readonly clock: Clock
  readonly newGuid: () => string
  /** 256 random bits as base64url. */
  readonly newToken: () => string
  readonly cache: Cache
  /** What fields refer to: the same object until a field changes. None without it. */
  readonly references?: (() => MaybePromise<References>) | undefined
  /** What the fields of a storage say. None without it. */
  readonly rulesOf?: FlowContext['rules'] | undefined
  readonly services: BlockServices
  readonly allowedHosts: () => readonly string[]
  /** The address at which users reach the cluster, without a slash at its end; empty for none. */
  readonly publicUrl: string
  readonly secrets: RunSecrets
  readonly connections: (name: string) => NamedConnection | undefined
  /** Delivers what a commit has made true. */
  readonly publish: (messages: readonly Message[]) => void
  readonly limits: RunLimits
  readonly values: RunValues
  /** Texts of the application that a blueprint belongs to: the same object until they change. */
  readonly texts?: ((blueprint: string) => Translations | undefined) | undefined
  /** Where runs say that they are running, for the watchdog. */
  readonly running?: RunningFlow
  readonly log: (entry: RunLogEntry) => void
  /** Begins the piece of a trace for a call of another server, where the run is traced. */
  readonly outgoing?: FlowContext['outgoing']
  /** Number of the deployment that a flow is of; undefined for a copy that is only traced. */
  readonly deploymentOf?: (flow: CompiledFlow, blueprint: string) => number | undefined
  /** A custom function by name: of the same blueprint first, else of any active one. */
  readonly findFunction: (name: string, blueprint: string) => CompiledFunction | undefined
}

export interface RunLogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly value?: JsonValue | undefined
  readonly run: string
  readonly blueprint: string
  readonly block?: string | undefined
  readonly pin?: string | undefined
  /** Where the run is in a distributed trace. */
  readonly trace?: string
  /** The run has failed with this. Not where no flow is to be told of it. */
  readonly failed?: { readonly code: string; readonly trigger: string; readonly job: string } | undefined
}
