import type { AuditedStorages } from '../records/audit-log.ts'
import { systemStorages } from '../storage/system-storages.ts'

/** The audit record says itself who it was. */
const derived = ['modified_by', 'created_by']

/** The records of this room whose changes are audited. */
export const auditedRecords: AuditedStorages = {
  [systemStorages.blueprints]: { category: 'blueprints', derived },
  [systemStorages.blocks]: { category: 'blueprintactions', derived, blueprint: 'blueprint_guid' },
  [systemStorages.deployments]: { category: 'deployments', derived: ['by'] },
  [systemStorages.storages]: { category: 'storages', derived },
  // The documents of a page upload are written by the run that stored it.
  [systemStorages.assets]: { category: 'assets', derived: ['created_by', 'documents'] },
  [systemStorages.fields]: { category: 'blueprintfields', derived: [...derived, 'key'] },
  [systemStorages.templates]: { category: 'blueprinttemplates', derived: [...derived, 'name_key'] },
  [systemStorages.tracing]: { category: 'tracing', derived },
  [systemStorages.views]: { category: 'views', derived },
  [systemStorages.environment]: { category: 'environment', derived },
  [systemStorages.connections]: { category: 'connections', derived },
  [systemStorages.extensions]: { category: 'extensions', derived },
  // The hash says whether it changed.
  [systemStorages.apiDocuments]: { category: 'connections', derived: [...derived, 'text', 'left_out'] },
  [systemStorages.settings]: { category: 'settings', derived },
  [systemStorages.secrets]: { category: 'secrets', derived, secrets: { sealed: 'value' } },
  [systemStorages.alerts]: { category: 'alerts', derived: [...derived, 'firing', 'since', 'value'] },
  [systemStorages.spaces]: { category: 'spaces', derived: [...derived, 'nodes', 'wakes_at'] },
  // What is pushed has an audit record of its own.
  [systemStorages.drafts]: { category: 'drafts', derived: [...derived, 'base', 'owner', 'author'] },
  [systemStorages.validationRules]: { category: 'blueprintvalidation', derived },
}
