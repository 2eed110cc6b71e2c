/**
 * What the API answers with, as the studio reads it. The schemas are in `shared/api`; `records.test.ts` holds each record
 * here against its schema, so that neither gains or loses a field alone.
 */

import type { BlueprintNote } from '../../shared/blueprint-note.ts'

/** The envelope of every record. Times are Unix seconds, `cms` and `ums` milliseconds. */
export interface Meta {
  readonly guid: string
  readonly entity: number
  readonly created: number
  readonly updated: number
  readonly cms: number
  readonly ums: number
  /** 0 = present. */
  readonly removed: number
  /** -1 = never. */
  readonly expiry: number
  readonly update_hash: string
}

export interface Stored {
  readonly _meta: Meta
}

export interface Actor {
  readonly guid: string
  readonly username: string
}

export interface Blueprint extends Stored {
  readonly name: string
  readonly description: string
  readonly category: string
  readonly tags: readonly string[]
  /** Remarks and frames on the canvas; blueprints of former versions have none. */
  readonly notes?: readonly BlueprintNote[]
  readonly short_id: string
  readonly active: boolean
  /** Number of the deployment that answers; 0 = never deployed. */
  readonly version: number
  readonly deployment_guid: string | null
  readonly created_by: Actor
  readonly modified_by: Actor
}

export interface WireEnd {
  readonly block: string
  readonly pin: string
}

export interface InPin {
  readonly id: string
  readonly from?: readonly WireEnd[]
  readonly value?: unknown
}

/** What a builder says of a block: what is staged, saved and deployed. */
export interface BlockContent {
  readonly type: string
  readonly title: string
  readonly description: string
  readonly position: { readonly x: number; readonly y: number }
  readonly in_pins: readonly InPin[]
  readonly custom_out_pins: readonly { readonly id: string; readonly type: string }[]
  readonly fields: Readonly<Record<string, unknown>>
  readonly scopes: readonly string[]
}

/** What is staged of a block. */
export interface Unsaved extends Partial<BlockContent> {
  readonly change: 'created' | 'updated' | 'removed'
  readonly by: Actor
  /** Unix seconds. */
  readonly at: number
}

export interface Block extends Stored, BlockContent {
  readonly blueprint_guid: string
  readonly out_pins: readonly { readonly id: string; readonly type: string }[]
  readonly storages: readonly string[]
  /** False while the block exists only as staged. */
  readonly is_created: boolean
  readonly modified_by: Actor
  readonly unsaved: Unsaved | null
}

export interface DeployAction {
  readonly guid: string
  readonly type: string
  readonly change: 'created' | 'updated' | 'removed'
  readonly before: BlockContent | null
  readonly after: BlockContent | null
}

export interface Explanation {
  readonly reachable: boolean
  readonly reason: string
  readonly blueprint?: { readonly guid: string; readonly name: string; readonly active: boolean }
  readonly block?: string
  readonly scopes?: readonly string[]
}

export interface StorageRecord extends Stored {
  readonly name: string
  readonly description: string
  readonly history: boolean
  readonly created_by: Actor
  readonly modified_by: Actor
}

/** A document: `_meta` and whatever fields it has. */
export interface Document extends Stored {
  readonly [field: string]: unknown
}

export interface Revision {
  readonly key: string
  readonly type: string
  readonly value: unknown
  readonly previous_value: unknown
}

export interface HistoryEntry extends Stored {
  readonly document: string
  readonly action: 'created' | 'updated' | 'removed' | 'restored' | 'deleted'
  readonly user: Actor
  readonly run: string | null
  readonly revisions: readonly Revision[]
}

export interface FieldRecord extends Stored {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly blueprint_guid: string | null
  readonly storage: string | null
  readonly required: boolean
  readonly default_value: unknown
  readonly validation_rules: unknown
  readonly metadata: unknown
  readonly created_by: Actor
  readonly modified_by: Actor
}

export interface Template extends Stored {
  readonly name: string
  readonly description: string
  readonly content: string
  readonly css: string
  readonly js: string
  readonly created_by: Actor
  readonly last_modified_by: Actor
}

export interface ValidationRule extends Stored {
  readonly rule_type: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly message: string
  readonly severity: string
  readonly created_by: Actor
  readonly modified_by: Actor
}

export interface Asset extends Stored {
  readonly name: string
  readonly type: string
  readonly size: number
  readonly sha256: string
  readonly directory: string
  readonly public_path: string | null
  readonly assets_guid: string
  readonly created_by: Actor
}

export interface User extends Stored {
  readonly username: string
  readonly email: string | null
  readonly firstname: string | null
  readonly lastname: string | null
  readonly timezone: string | null
  readonly language: string | null
  readonly settings?: readonly { readonly key: string; readonly value: unknown }[]
  readonly custom_scopes?: readonly string[]
  readonly groups?: readonly string[]
  readonly is_active: boolean
  readonly login_attempts?: number
  readonly locked_until?: number
  readonly last_activity?: number
}

export interface Group extends Stored {
  readonly name: string
  readonly description: string
  readonly scopes: readonly string[]
  readonly is_active: boolean
}

export interface Job extends Stored {
  readonly queue: string
  readonly type: 'function' | 'event' | 'tick'
  readonly status: 'waiting' | 'running' | 'done' | 'dead'
  readonly title: string
  readonly priority: number
  readonly attempts: number
  readonly max_attempts: number
  readonly scheduled_for: number
  readonly started_at: number
  readonly completed_at: number
  readonly leased_until: number
  readonly error: string | null
  readonly worker_id: string
  readonly dedupe_key: string
  readonly order_key: string
}

export interface JobWithData extends Job {
  readonly data: unknown
}

export interface Queue {
  readonly name: string
  readonly paused: boolean
  readonly concurrency: number | null
  readonly depth: number
  readonly running: number
  readonly done: number
  readonly dead: number
  readonly oldest: number | null
}

export interface Schedule extends Stored {
  readonly schedule: string
  readonly blueprint: string
  readonly block: string
  readonly title: string
  readonly cron: string
  readonly every: string
  readonly start_at: number | null
  readonly time_zone: string
  readonly overlap: 'skip' | 'queue' | 'allow'
  readonly catch_up: 'last' | 'all' | 'none'
  readonly next_at: number | null
  readonly last_at: number | null
}

export interface Tick extends Stored {
  readonly schedule: string
  readonly blueprint: string
  readonly block: string
  readonly planned_at: number
  readonly late: boolean
  readonly state: 'planned' | 'claimed' | 'done' | 'skipped' | 'caught_up' | 'failed'
  readonly job: string
}

export interface SystemLog extends Stored {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly value?: unknown
  readonly run?: string
  readonly blueprint?: string
  readonly block?: string
  readonly pin?: string
}

export interface AuditLog extends Stored {
  readonly category: string
  readonly action: 'created' | 'updated' | 'removed' | 'restored' | 'deleted' | 'imported' | 'exported'
  readonly guid: string
  readonly name: string
  readonly user: Actor
  readonly changes: readonly string[]
  readonly before: unknown
  readonly after: unknown
}

export interface UserLog extends Stored {
  readonly event: 'sign_in' | 'sign_in_failed' | 'sign_out' | 'request' | 'lost'
  readonly user: Actor | null
  readonly ip?: string
  readonly agent?: string
  readonly method?: string
  /** Several, when they were asked for at once. */
  readonly path?: string | readonly string[]
  readonly status?: number
  readonly milliseconds?: number
  readonly count?: number
}

export interface SignedIn {
  readonly access_token: string
  readonly expiry: number
  readonly expiry_renew: number
  readonly verified: boolean
  readonly user: {
    readonly _meta: { readonly guid: string }
    readonly username: string
    readonly email: string | null
    readonly firstname: string
    readonly lastname: string
    readonly language: string
  }
  readonly ip: string
}
