/** Scopes to build drafts: what an agent gets that asks for no scopes. */
export const draftScopes: readonly string[] = [
  'blueprints_view',
  'blueprintactions_view',
  'blueprintfields_view',
  'blueprinttemplates_view',
  'storages_view',
  'authentication_groups_view',
  'drafts_view',
  'drafts_create',
  'drafts_remove',
]

/** First segment of the addresses at which users let agents in. */
export const OAUTH_PATH = '_oauth'
