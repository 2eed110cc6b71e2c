/** Storages that belong to Quoin itself. Their names start with `_`, which no storage of a builder may. */
export const ownStorages = {
  users: '_users',
  groups: '_groups',
  tokens: '_tokens',
  apiKeys: '_api_keys',
  apiKeyUses: '_api_key_uses',
  userLogs: '_userlogs',
  failedSignIns: '_signin_names',
  signInAddresses: '_signin_addresses',
  accessTurns: '_access',
  blueprints: '_blueprints',
  blocks: '_blocks',
  deployments: '_deployments',
  storages: '_storages',
  systemLogs: '_systemlogs',
  auditLogs: '_auditlogs',
  templates: '_templates',
  fields: '_fields',
  validationRules: '_validation_rules',
  environment: '_environment',
  secrets: '_named_secrets',
  connections: '_connections',
  recordSteps: '_record_steps',
  assets: '_assets',
  assetNotes: '_asset_files',
  history: '_history',
  imports: '_imports',
  manyChanges: '_many_changes',
  views: '_views',
  tracing: '_tracing',
  runs: '_runs',
  schedules: '_schedules',
  ticks: '_schedule_ticks',
  idempotency: '_idempotency',
  pageSecrets: '_secrets',
  keptForms: '_kept_forms',
  waits: '_waits',
} as const

/** Whether a storage is Quoin's own: builders cannot name it, and rules of fields do not reach it. */
export function isOwnStorage(name: string): boolean {
  return name.startsWith('_')
}
