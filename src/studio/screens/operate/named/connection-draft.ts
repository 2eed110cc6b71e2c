/** A connection as its form holds it. */

import type { ConnectionAuth, ConnectionRecord } from '../../../../shared/api/operate/connections.ts'
import type { JsonObject } from '../../../../shared/json.ts'
import { namedTexts } from '../../../texts/settings.ts'

export type SignInKind = ConnectionAuth['kind']

export const signInLabels: Readonly<Record<SignInKind, string>> = {
  none: namedTexts.none,
  bearer: namedTexts.bearerToken,
  basic: namedTexts.basic,
  header: namedTexts.header,
  oauth2: namedTexts.oauth2ClientCredentials,
}

export interface ConnectionDraft {
  readonly name: string
  readonly description: string
  readonly baseUrl: string
  readonly kind: SignInKind
  readonly secret: string
  readonly username: string
  readonly header: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly scope: string
  /** JSON. */
  readonly headers: string
}

export function draftOf(record: ConnectionRecord | undefined, newName = ''): ConnectionDraft {
  const { name = newName, description = '', base_url: baseUrl = '', headers = {} } = record ?? {}
  const auth: ConnectionAuth = record?.auth ?? { kind: 'none' }
  return {
    ...{ name, description, baseUrl, kind: auth.kind },
    secret: auth.kind === 'none' ? '' : auth.secret,
    username: auth.kind === 'basic' ? auth.username : '',
    header: auth.kind === 'header' ? auth.header : '',
    tokenUrl: auth.kind === 'oauth2' ? auth.token_url : '',
    clientId: auth.kind === 'oauth2' ? auth.client_id : '',
    scope: auth.kind === 'oauth2' ? (auth.scope ?? '') : '',
    headers: JSON.stringify(headers, undefined, 2),
  }
}

/** What the server takes. Throws SyntaxError for headers that are no JSON. */
export function fieldsOf(draft: ConnectionDraft): JsonObject {
  const { description, baseUrl, headers } = draft
  return { description, base_url: baseUrl.trim(), auth: authOf(draft), headers: JSON.parse(headers || '{}') }
}

function authOf(draft: ConnectionDraft): JsonObject {
  const { kind, secret, username, header, tokenUrl, clientId, scope } = draft
  switch (kind) {
    case 'none':
      return { kind }
    case 'bearer':
      return { kind, secret }
    case 'basic':
      return { kind, username, secret }
    case 'header':
      return { kind, header, secret }
    case 'oauth2':
      return {
        ...{ kind, token_url: tokenUrl.trim(), client_id: clientId, secret },
        ...(scope.trim() !== '' && { scope: scope.trim() }),
      }
  }
}
