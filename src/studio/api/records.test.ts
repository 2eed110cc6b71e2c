/**
 * The records as the studio reads them, held against the schemas that the server answers by. A record whose fields are
 * listed wrongly here does not compile; a field that no schema has fails.
 */
import { describe, expect, it } from 'vitest'
import { assetSchema } from '../../shared/api/assets.ts'
import { auditLogSchema } from '../../shared/api/audit-logs.ts'
import { signedInSchema } from '../../shared/api/auth.ts'
import { groupSchema } from '../../shared/api/authentication-groups.ts'
import { blockSchema } from '../../shared/api/blueprint-actions.ts'
import { fieldSchema } from '../../shared/api/blueprint-fields.ts'
import { blueprintSchema, deployActionSchema, explanationSchema } from '../../shared/api/blueprints.ts'
import { historySchema } from '../../shared/api/documents.ts'
import { metaSchema } from '../../shared/api/meta.ts'
import { jobSchema, queueSchema, scheduleSchema, tickSchema } from '../../shared/api/queues.ts'
import { storageSchema } from '../../shared/api/storages.ts'
import { systemLogSchema } from '../../shared/api/system-logs.ts'
import { templateSchema } from '../../shared/api/templates.ts'
import { userLogSchema } from '../../shared/api/user-logs.ts'
import { userSchema } from '../../shared/api/users.ts'
import { validationRuleSchema } from '../../shared/api/validation-rules.ts'
import type * as records from './records.ts'

/** Every field of a record, by name. */
type Fields<T> = Record<keyof T, true>

const stored = { _meta: true } as const
const authored = { ...stored, created_by: true, modified_by: true } as const

const meta: Fields<records.Meta> = {
  guid: true,
  entity: true,
  created: true,
  updated: true,
  cms: true,
  ums: true,
  removed: true,
  expiry: true,
  update_hash: true,
}
const blueprint: Fields<records.Blueprint> = {
  ...authored,
  name: true,
  description: true,
  category: true,
  tags: true,
  notes: true,
  short_id: true,
  active: true,
  version: true,
  deployment_guid: true,
}
const block: Fields<records.Block> = {
  ...stored,
  type: true,
  title: true,
  description: true,
  position: true,
  in_pins: true,
  custom_out_pins: true,
  fields: true,
  scopes: true,
  blueprint_guid: true,
  out_pins: true,
  storages: true,
  is_created: true,
  modified_by: true,
  unsaved: true,
}
const deployAction: Fields<records.DeployAction> = {
  guid: true,
  type: true,
  change: true,
  before: true,
  after: true,
}
const explanation: Fields<records.Explanation> = {
  reachable: true,
  reason: true,
  blueprint: true,
  block: true,
  scopes: true,
}
const storage: Fields<records.StorageRecord> = { ...authored, name: true, description: true, history: true }
const history: Fields<records.HistoryEntry> = {
  ...stored,
  document: true,
  action: true,
  user: true,
  run: true,
  revisions: true,
}
const field: Fields<records.FieldRecord> = {
  ...authored,
  name: true,
  type: true,
  description: true,
  blueprint_guid: true,
  storage: true,
  required: true,
  default_value: true,
  validation_rules: true,
  metadata: true,
}
const template: Fields<records.Template> = {
  ...stored,
  name: true,
  description: true,
  content: true,
  css: true,
  js: true,
  created_by: true,
  last_modified_by: true,
}
const rule: Fields<records.ValidationRule> = {
  ...authored,
  rule_type: true,
  parameters: true,
  message: true,
  severity: true,
}
const asset: Fields<records.Asset> = {
  ...stored,
  name: true,
  type: true,
  size: true,
  sha256: true,
  directory: true,
  public_path: true,
  assets_guid: true,
  created_by: true,
}
const user: Fields<records.User> = {
  ...stored,
  username: true,
  email: true,
  firstname: true,
  lastname: true,
  timezone: true,
  language: true,
  settings: true,
  custom_scopes: true,
  groups: true,
  is_active: true,
  login_attempts: true,
  locked_until: true,
  last_activity: true,
}
const group: Fields<records.Group> = {
  ...stored,
  name: true,
  description: true,
  scopes: true,
  is_active: true,
}
const job: Fields<records.JobWithData> = {
  ...stored,
  queue: true,
  type: true,
  status: true,
  title: true,
  priority: true,
  attempts: true,
  max_attempts: true,
  scheduled_for: true,
  started_at: true,
  completed_at: true,
  leased_until: true,
  error: true,
  worker_id: true,
  dedupe_key: true,
  order_key: true,
  data: true,
}
const queue: Fields<records.Queue> = {
  name: true,
  paused: true,
  concurrency: true,
  depth: true,
  running: true,
  done: true,
  dead: true,
  oldest: true,
}
const schedule: Fields<records.Schedule> = {
  ...stored,
  schedule: true,
  blueprint: true,
  block: true,
  title: true,
  cron: true,
  every: true,
  start_at: true,
  time_zone: true,
  overlap: true,
  catch_up: true,
  next_at: true,
  last_at: true,
}
const tick: Fields<records.Tick> = {
  ...stored,
  schedule: true,
  blueprint: true,
  block: true,
  planned_at: true,
  late: true,
  state: true,
  job: true,
}
const systemLog: Fields<records.SystemLog> = {
  ...stored,
  level: true,
  message: true,
  value: true,
  run: true,
  blueprint: true,
  block: true,
  pin: true,
}
const auditLog: Fields<records.AuditLog> = {
  ...stored,
  category: true,
  action: true,
  guid: true,
  name: true,
  user: true,
  changes: true,
  before: true,
  after: true,
}
const userLog: Fields<records.UserLog> = {
  ...stored,
  event: true,
  user: true,
  ip: true,
  agent: true,
  method: true,
  path: true,
  status: true,
  milliseconds: true,
  count: true,
}
const signedIn: Fields<records.SignedIn> = {
  access_token: true,
  expiry: true,
  expiry_renew: true,
  verified: true,
  user: true,
  ip: true,
}

describe('a record of the studio has the fields that the API answers with', () => {
  it.each([
    ['meta', meta, metaSchema],
    ['blueprint', blueprint, blueprintSchema],
    ['block', block, blockSchema],
    ['deploy action', deployAction, deployActionSchema],
    ['explanation', explanation, explanationSchema],
    ['storage', storage, storageSchema],
    ['history entry', history, historySchema],
    ['field', field, fieldSchema],
    ['template', template, templateSchema],
    ['validation rule', rule, validationRuleSchema],
    ['asset', asset, assetSchema],
    ['user', user, userSchema],
    ['group', group, groupSchema],
    ['job', job, jobSchema],
    ['queue', queue, queueSchema],
    ['schedule', schedule, scheduleSchema],
    ['tick', tick, tickSchema],
    ['system log', systemLog, systemLogSchema],
    ['audit log', auditLog, auditLogSchema],
    ['user log', userLog, userLogSchema],
    ['sign-in', signedIn, signedInSchema],
  ])('%s', (_name, fields, schema) => {
    const { properties } = JSON.parse(JSON.stringify(schema))
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(fields)))
  })
})
