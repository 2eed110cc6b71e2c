import Type, { type Static } from 'typebox'
import { SECRET_NAME } from '../../names/stored-names.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const closed = { additionalProperties: false } as const
const domains = Type.Array(Type.String({ pattern: '^[a-z0-9.-]{1,253}$' }), { maxItems: 100 })

const kind = Type.Union([Type.Literal('oidc'), Type.Literal('github')], {
  description: '`oidc`: OpenID Connect. `github`: OAuth 2 of GitHub, which has no OpenID Connect for users.',
})
const issuer = Type.String({
  pattern: '^https?://',
  maxLength: 500,
  description:
    'Address of the provider, as its discovery document names it. Without TLS on this machine only. Of GitHub: `https://github.com`, or the address of an own server.',
})
const fields = {
  title: Type.String({ minLength: 1, maxLength: 60, description: 'What the button says.' }),
  description: Type.String({ maxLength: 1_000 }),
  kind,
  issuer,
  client_id: Type.String({ minLength: 1, maxLength: 500 }),
  secret: Type.String({
    pattern: `^$|${SECRET_NAME}`,
    description: 'Name of the secret with the secret of the client. Empty for a public client.',
  }),
  scopes: Type.String({ maxLength: 500, description: 'What is asked for, separated by spaces.' }),
  is_active: Type.Boolean(),
  create_users: Type.Boolean({ description: 'Create a user at the first sign-in of an unknown one.' }),
  domains: Type.Unsafe<string[]>({
    ...domains,
    description: 'Only verified addresses of these domains create users. Empty: all.',
  }),
  required_domains: Type.Unsafe<string[]>({
    ...domains,
    description:
      'Users with an address of these domains sign in with this provider only. Administrators (scope *) can also use a password or a passkey.',
  }),
  groups: Type.Array(Type.String(), {
    maxItems: 100,
    description: 'Guids of the authentication groups that the provider decides about. You need their scopes.',
  }),
  groups_expression: Type.String({
    maxLength: 2_000,
    description:
      'Expression over `claims` that gives the names of groups, such as `claims.groups`. Of these the user gets those in `groups`, at each sign-in, and loses the others of `groups`. Empty: new users get all of `groups`.',
  }),
  external_id_claim: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Claim that is the `externalId` of users that SCIM has created, such as `sub` or `oid`: they sign in without a verified address. Never a claim that users change themselves. Empty: none.',
    }),
  ),
  trusts_factor: Type.Boolean({
    description: 'The provider asks for a second factor itself: Quoin does not ask for one too.',
  }),
  sign_out: Type.Boolean({
    description: 'Signing out on a page or in the studio also signs out at the provider.',
  }),
}

export const PROVIDER_NAME = '^[a-z][a-z0-9-]{0,39}$'

export const createProviderSchema = Type.Object(
  {
    name: Type.String({
      pattern: PROVIDER_NAME,
      description: 'Part of the address that the provider redirects to. Does not change later.',
    }),
    ...Type.Pick(Type.Object(fields), ['title', 'issuer', 'client_id']).properties,
    ...Type.Partial(Type.Omit(Type.Object(fields), ['title', 'issuer', 'client_id'])).properties,
  },
  closed,
)
export type ProviderInput = Static<typeof createProviderSchema>
export const updateProviderSchema = Type.Partial(Type.Object(fields), { ...closed, minProperties: 1 })
export type ProviderChanges = Static<typeof updateProviderSchema>

/** What Quoin stores of a provider besides its envelope. */
export const storedProvider = Type.Object({
  name: Type.String(),
  ...fields,
  from_settings: Type.Optional(
    Type.Boolean({
      description:
        'QUOIN_SIGNIN_PROVIDERS of the nodes has it. It is changed there, and not by the API or in the studio.',
    }),
  ),
})
export type StoredProvider = Static<typeof storedProvider>

const providerRecord = Type.Object({
  _meta: metaSchema,
  ...storedProvider.properties,
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type ProviderRecord = Wire<typeof providerRecord>
export const providerSchema = storedRecord(providerRecord)

/** What anyone may see: the buttons of a sign-in page. */
export const providerButtonsSchema = Type.Array(
  Type.Object({
    name: Type.String(),
    title: Type.String(),
    start: Type.String({ description: 'Path that a browser opens to sign in; takes `next`.' }),
  }),
)
export type ProviderButton = Static<typeof providerButtonsSchema>[number]

const linkedAccount = Type.Object({
  _meta: metaSchema,
  provider: Type.String({ description: 'Name of the sign-in provider; empty for one that was removed.' }),
  title: Type.String(),
  issuer: Type.String(),
  subject: Type.String({ description: 'What the provider calls the account. It never changes.' }),
  email: Type.String({ description: 'The verified address when it was linked; empty for none.' }),
  last_used: Type.Integer({ description: 'Unix seconds.' }),
})
export type LinkedAccount = Wire<typeof linkedAccount>
export const linkedAccountsSchema = Type.Array(storedRecord(linkedAccount))

/** `{account}` beside `{guid}` in a path. */
const account = Type.String({ description: 'The `_meta.guid` of the account.' })
export const accountParams = Type.Object({ account })
export const accountOfUserParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the user.' }),
  account,
})
