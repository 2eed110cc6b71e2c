import type { Agent } from 'undici'
import type { PasswordCost } from '../access/password-hash.ts'
import type { CompiledBlueprint } from '../flows/compile/compile-blueprint.ts'
import type { RunningFlow } from '../flows/run/running-flow.ts'
import type { Options } from '../options/options.ts'
import type { HandOver } from '../records/mail/send-mail.ts'
import type { SpaceQuotas } from '../shared/api/operate/spaces.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import type { Releasers } from './releasers.ts'

/** The process, as a space sees it that is opened in it. */
export interface SpaceHost {
  readonly guid: string
  readonly name: string
  /** What the operator's options are for this space at present. */
  readonly options: () => Options
  /** Settings that the operator has stored: the defaults of the space's own. */
  readonly inherited: () => ReadonlyMap<string, string>
  /** Called behind each change of them. Gives what ends it. */
  readonly watchOptions: (listener: () => void) => () => void
  /** Whether its flows call no other servers: mails go to `handOver` then. */
  readonly isClosed: boolean
  /** What it may store and run at present. */
  readonly quotas: () => SpaceQuotas
  /** For the watchdog of the process. */
  readonly running: RunningFlow
  /** Where it leaves its notes. */
  readonly stuck: string
  /** Resolves when no request is under way in the space, or after so many milliseconds. */
  readonly drained: (milliseconds: number) => Promise<void>
}

export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  /** For tests that need no disk: do not wait for it. */
  readonly synchronous?: 'OFF'
  /** For tests that are not about passwords: a hash takes 25 ms of processor time otherwise. */
  readonly passwordCost?: PasswordCost
  /** For commands that work on the data of a server that is not running: no jobs, no schedules, no purging. */
  readonly offline?: true
  /** For tests of flows: all calls of other servers go through what it gives then, whatever host they are for. */
  readonly calls?: () => Agent
  /** For tests of flows: no other node has this database, so files may lie on the disk of this one. */
  readonly onlyNode?: true
  /** For tests of flows: is given each mail in place of the SMTP server. */
  readonly handOver?: HandOver
  /** For tests of flows: what the cluster of the test before has compiled of the same application, by guid of the blueprint. */
  readonly compiledBefore?: ReadonlyMap<string, CompiledBlueprint>
  /** Where this is a space, and not the operator's own. */
  readonly space?: SpaceHost
  /** Whether something failed in the process that no part of it handles. */
  readonly hasFaulted?: () => boolean
}

/** What each step of opening a process is given. */
export interface Start extends Surroundings {
  readonly options: Options
  readonly version: string
  /** What was opened so far: closed in reverse order, all of it, whatever fails. */
  readonly opened: Releasers
}
