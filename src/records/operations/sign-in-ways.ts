import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { ApiDocument } from './api-document.ts'

/** How requests of an operation are signed in, as sentences for the person who sets up the connection. What a connection cannot do is said. */
export function signInOf(
  document: ApiDocument,
  own: JsonObject,
  say: (what: string) => void,
): readonly string[] {
  const required = own.security ?? document.root.security
  const components = isJsonObject(document.root.components) ? document.root.components : {}
  const schemes = isJsonObject(components.securitySchemes) ? components.securitySchemes : {}
  const ways = (Array.isArray(required) ? required : []).map((one) => {
    const all = Object.entries(isJsonObject(one) ? one : {})
    return all.map(([name, scopes]) => wayOf(document.object(schemes[name]), name, scopes))
  })
  const sentences = ways.map((all) => (all.length === 0 ? 'none' : all.map(({ text }) => text).join(' and ')))
  if (ways.length > 0 && ways.every((all) => all.some(({ isOffered }) => !isOffered) || all.length > 1))
    say(`its sign-in, which no connection offers: ${sentences.join('; or ')}`.slice(0, 400))
  return sentences
}

interface Way {
  readonly text: string
  readonly isOffered: boolean
}

function wayOf(scheme: JsonObject | undefined, name: string, scopes: JsonValue): Way {
  const scope = Array.isArray(scopes) && scopes.length > 0 ? ` with ${scopes.join(' ')}` : ''
  switch (scheme?.type) {
    case 'http': {
      const kind = String(scheme.scheme ?? '').toLowerCase()
      return { text: `${kind}${scope}`, isOffered: kind === 'bearer' || kind === 'basic' }
    }
    case 'apiKey':
      return { text: `the ${String(scheme.in)} ${String(scheme.name)}`, isOffered: scheme.in === 'header' }
    case 'oauth2':
    case 'openIdConnect':
      // A token that was fetched elsewhere is a bearer token.
      return { text: `${scheme.type} (${name})${scope}`, isOffered: true }
    case 'mutualTLS':
      return { text: `mutual TLS (${name})`, isOffered: false }
    default:
      return { text: name, isOffered: false }
  }
}
