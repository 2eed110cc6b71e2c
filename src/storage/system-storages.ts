/** Storages that belong to Quoin itself. Their names start with `_`, which no storage of a builder may. */
export const systemStorages = {
  users: '_users',
  groups: '_groups',
  tokens: '_tokens',
  apiKeys: '_api_keys',
  apiKeyUses: '_api_key_uses',
  agentGrants: '_agent_grants',
  accountLinks: '_account_links',
  accountRequests: '_account_requests',
  userLogs: '_userlogs',
  failedSignIns: '_signin_names',
  signInChallenges: '_signin_challenges',
  signInProviders: '_signin_providers',
  passkeys: '_passkeys',
  providerAccounts: '_provider_accounts',
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
  apiDocuments: '_api_documents',
  apiOperations: '_api_operations',
  recordSteps: '_record_steps',
  assets: '_assets',
  assetNotes: '_asset_files',
  assetImages: '_asset_images',
  history: '_history',
  imports: '_imports',
  manyChanges: '_many_changes',
  views: '_views',
  tracing: '_tracing',
  runs: '_runs',
  recordedRequests: '_recorded_requests',
  samples: '_samples',
  schedules: '_schedules',
  ticks: '_schedule_ticks',
  idempotency: '_idempotency',
  pageSecrets: '_secrets',
  savedForms: '_kept_forms',
  waits: '_waits',
  limits: '_limits',
  figures: '_figures',
  alerts: '_alerts',
  settings: '_settings',
  applications: '_applications',
  releases: '_releases',
  releaseContents: '_release_contents',
  drafts: '_drafts',
  texts: '_texts',
  pushes: '_pushes',
  pushContents: '_push_contents',
  auditChain: '_audit_chain',
  auditCheckpoints: '_audit_checkpoints',
  auditStreams: '_audit_streams',
  spaces: '_spaces',
} as const

/** Whether a storage is Quoin's own: builders cannot name it, and rules of fields do not reach it. */
export function isOwnStorage(name: string): boolean {
  return name.startsWith('_')
}

/** What is wrong with a storage's name, in words that finish "the storage name …", or undefined. */
export function storageNameProblem(name: string): string | undefined {
  return /^_?[a-z][a-z0-9_-]{0,62}$/.test(name)
    ? undefined
    : 'must be 1 to 63 of a–z, 0–9, _ and -, and start with a letter'
}
