/** What SCIM can do here, for the programs that ask before they begin (RFC 7643, 5 to 7). */
import type { JsonObject } from '../../shared/json.ts'

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'

export const serviceProviderConfig: JsonObject = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 200 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  pagination: {
    ...{ cursor: true, index: true, defaultPaginationMethod: 'index' },
    ...{ defaultPageSize: 100, maxPageSize: 200 },
  },
  authenticationSchemes: [
    {
      ...{ type: 'oauthbearertoken', name: 'API key', primary: true },
      description: 'An API key with the scopes scim_view, scim_create, scim_update and scim_remove.',
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: '/scim/v2/ServiceProviderConfig' },
}

function resourceType(name: string, endpoint: string, schema: string): JsonObject {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    ...{ id: name, name, endpoint, schema },
    meta: { resourceType: 'ResourceType', location: `/scim/v2/ResourceTypes/${name}` },
  }
}

export const resourceTypes: readonly JsonObject[] = [
  resourceType('User', '/Users', USER),
  resourceType('Group', '/Groups', GROUP),
]

function attribute(name: string, description: string, more: JsonObject = {}): JsonObject {
  return {
    ...{ name, type: 'string', multiValued: false, description, required: false, caseExact: false },
    ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
    ...more,
  }
}

const externalId = attribute('externalId', 'Of the account at the provider.', {
  caseExact: true,
  uniqueness: 'server',
})

function schema(id: string, name: string, attributes: JsonObject[]): JsonObject {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id, name, description: name, attributes },
    meta: { resourceType: 'Schema', location: `/scim/v2/Schemas/${id}` },
  }
}

export const schemas: readonly JsonObject[] = [
  schema(USER, 'User', [
    attribute('userName', 'What the user signs in with.', { required: true, uniqueness: 'server' }),
    externalId,
    attribute('name', 'Of a person.', {
      type: 'complex',
      subAttributes: [
        attribute('givenName', 'First name.'),
        attribute('familyName', 'Last name.'),
        attribute('formatted', 'Both.', { mutability: 'readOnly' }),
      ],
    }),
    attribute('displayName', 'Made from the name.', { mutability: 'readOnly' }),
    attribute('emails', 'One address is stored: the primary one, else that of work, else the first.', {
      ...{ type: 'complex', multiValued: true },
      subAttributes: [
        attribute('value', 'The address.', { uniqueness: 'server' }),
        attribute('type', 'Always work.'),
        attribute('primary', 'Always true.', { type: 'boolean' }),
      ],
    }),
    attribute('preferredLanguage', 'A language tag such as nl-NL.'),
    attribute('timezone', 'An IANA time zone such as Europe/Amsterdam.'),
    attribute('active', 'False: the user cannot sign in, sessions end, API keys are refused.', {
      type: 'boolean',
    }),
    attribute('groups', 'Changed by the members of groups.', {
      ...{ type: 'complex', multiValued: true, mutability: 'readOnly' },
      subAttributes: [
        attribute('value', 'The id of the group.', { mutability: 'readOnly' }),
        attribute('display', 'Its name.', { mutability: 'readOnly' }),
      ],
    }),
  ]),
  schema(GROUP, 'Group', [
    attribute('displayName', 'The name.', { required: true, uniqueness: 'server' }),
    externalId,
    attribute('members', 'Not in lists; of one group a page, chosen by startIndex, count and cursor.', {
      ...{ type: 'complex', multiValued: true },
      subAttributes: [
        attribute('value', 'The id of the user.', { mutability: 'immutable' }),
        attribute('type', 'Always User.', { mutability: 'immutable' }),
      ],
    }),
  ]),
]
