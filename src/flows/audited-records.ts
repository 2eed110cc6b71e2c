import type { AuditedStorages } from '../records/audit-log.ts'
import { ownStorages } from '../storage/own-storages.ts'

/** The audit record says itself who it was. */
const derived = ['modified_by', 'created_by']

/** The records of this room whose changes are audited. */
export const auditedRecords: AuditedStorages = {
  [ownStorages.blueprints]: { category: 'blueprints', derived },
  [ownStorages.blocks]: { category: 'blueprintactions', derived, blueprint: 'blueprint_guid' },
  [ownStorages.deployments]: { category: 'deployments', derived: ['by'] },
  [ownStorages.storages]: { category: 'storages', derived },
  // The documents of a page upload are written by the run that stored it.
  [ownStorages.assets]: { category: 'assets', derived: ['created_by', 'documents'] },
  [ownStorages.fields]: { category: 'blueprintfields', derived: [...derived, 'key'] },
  [ownStorages.templates]: { category: 'blueprinttemplates', derived: [...derived, 'name_key'] },
  [ownStorages.tracing]: { category: 'tracing', derived },
  [ownStorages.views]: { category: 'views', derived },
  [ownStorages.environment]: { category: 'environment', derived },
  [ownStorages.connections]: { category: 'connections', derived },
  [ownStorages.settings]: { category: 'settings', derived },
  [ownStorages.secrets]: { category: 'secrets', derived, secrets: { sealed: 'value' } },
  [ownStorages.alerts]: { category: 'alerts', derived: [...derived, 'firing', 'since', 'value'] },
  // What is pushed has an audit record of its own.
  [ownStorages.drafts]: { category: 'drafts', derived: [...derived, 'base', 'owner', 'author'] },
  [ownStorages.validationRules]: { category: 'blueprintvalidation', derived },
}
