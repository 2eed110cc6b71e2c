import type { Flows } from '../../../flows/flows.ts'
import { sendersOfSecrets, usersOfSecrets } from '../../../flows/live/live-blueprints.ts'
import { signedForBlock } from '../../../flows/sign-for-block.ts'
import type { AuditLog } from '../../../records/audit-log.ts'
import type { Secrets } from '../../../records/secrets/secrets.ts'
import {
  createSecretSchema,
  rotatedSecretsSchema,
  secretKeySchema,
  secretSchema,
  signedRequestSchema,
  signRequestSchema,
  updateSecretSchema,
} from '../../../shared/api/operate/secrets.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { type Resource, resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Secrets']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
]

interface Providers {
  all(): readonly { readonly name: string; readonly secret: string }[]
}

/** Secrets: set by name, never shown. */
export function secretRoutes(
  { secrets, connections, live, records }: Flows,
  providers: Providers,
): RouteFamily {
  const uses = () => ({ users: usersOfSecrets(live.table()), senders: sendersOfSecrets(connections) })
  const shown = (record: JsonObject, { users, senders } = uses()) => ({
    ...secrets.shown(record),
    sent_by: senders.get(textIn(record.name)) ?? [],
    signs_in: providers.all().flatMap(({ name, secret }) => (secret === textIn(record.name) ? [name] : [])),
    used_by: users.get(textIn(record.name)) ?? [],
  })
  return (app) => {
    const secret = resource(app, {
      path: '/_system/secrets',
      scopes: 'secrets',
      tags,
      record: secretSchema,
      searchable,
    })
    secret.list(
      {
        operationId: 'searchSecrets',
        summary: 'List secrets',
        description: 'Names of secrets and who uses them. No reply contains a value.',
      },
      async (requested) => {
        const page = await findPage(records.database.session(), systemStorages.secrets, requested)
        const now = uses()
        return { ...page, records: page.records.map((record) => shown(record, now)) }
      },
    )

    changeRoutes(secret, secrets, shown)
    keyRoutes(app, secrets)
  }
}

/** `shown`: the record that replies contain. */
function changeRoutes(secret: Resource, secrets: Secrets, shown: (record: JsonObject) => JsonObject): void {
  secret.create(
    {
      operationId: 'createSecret',
      confirmed: true,
      summary: 'Set a new secret',
      description:
        'Every run that begins after the reply can use it. A cluster holds at most 1,000 secrets. 503 without a key.',
      errors: ['CONFLICT', 'UNAVAILABLE'],
      body: createSecretSchema,
    },
    async (body, request) => shown(await secrets.create(body, actorOf(request))),
  )

  secret.get({ operationId: 'getSecret', summary: 'One secret, without its value' }, async (guid) =>
    shown(await secrets.get(guid)),
  )

  secret.update(
    {
      operationId: 'updateSecret',
      confirmed: true,
      summary: 'Change a secret',
      description: 'Every run that begins after the reply uses the new value. No deploy is needed.',
      errors: ['UNAVAILABLE'],
      body: updateSecretSchema,
    },
    async (guid, body, request) => shown(await secrets.update(guid, body, actorOf(request))),
  )

  secret.remove(
    {
      operationId: 'removeSecret',
      confirmed: true,
      summary: 'Remove a secret',
      description: 'Blocks that name it fail from then on.',
    },
    (guid, request) => secrets.remove(guid, actorOf(request)),
  )
}

function keyRoutes(app: App, secrets: Secrets): void {
  app.get(
    '/_system/secrets/key',
    {
      config: { permission: 'secrets_view' },
      schema: {
        operationId: 'getSecretKey',
        summary: 'Whether secrets can be set',
        description: 'Where the node that replies has its key from. Never the key.',
        tags,
        response: { 200: secretKeySchema },
      },
    },
    async () => secrets.key(),
  )
  app.post(
    '/_system/secrets/rotate',
    {
      config: { permission: 'secrets_update', confirmed: true, errors: ['UNAVAILABLE'] },
      schema: {
        operationId: 'rotateSecrets',
        summary: 'Encrypt all secrets with the present key',
        description:
          'Decrypts what was encrypted with one of QUOIN_SECRETS_OLD_KEYS and encrypts it with QUOIN_SECRETS_KEY. Every node needs the present key before.',
        tags,
        response: { 200: rotatedSecretsSchema },
      },
    },
    async (request) => secrets.rotate(actorOf(request)),
  )
}

/** Tries of endpoints that check signatures. */
export function signRequestRoutes(flows: Flows, audit: Pick<AuditLog, 'record'>): RouteFamily {
  return (app) =>
    void app.post(
      '/_system/secrets/sign',
      {
        config: { permission: 'secrets_update', bodyBytes: 'setting', errors: ['CONFLICT', 'UNAVAILABLE'] },
        schema: {
          operationId: 'signRequest',
          summary: 'Sign a request to an endpoint',
          description:
            'The headers with which a deployed block `check_signature` takes the request, to try the endpoint. The secret stays on the server. The audit log has each use. 409 where the blueprint is not active, or the signature is not in a header.',
          tags,
          body: signRequestSchema,
          response: { 200: signedRequestSchema },
        },
      },
      async (request) => ({ headers: await signedForBlock(flows, audit, request.body, actorOf(request)) }),
    )
}
