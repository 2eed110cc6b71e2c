import { managementScopes } from '../../shared/management-scopes.ts'
import { scopesTexts } from '../texts/properties.ts'

const known: ReadonlyMap<string, string> = new Map([
  ['*', scopesTexts.everything],
  ['*public', scopesTexts.everyone],
  ['*loggedin', scopesTexts.signedIn],
  ...managementScopes.map((scope): [string, string] => [scope, managementWords(scope)]),
  ...Object.entries(scopesTexts.special),
])

/** `users_view` → `view users`. */
function managementWords(scope: string): string {
  const at = scope.lastIndexOf('_')
  const verb = Object.entries(scopesTexts.verbs).find(([name]) => name === scope.slice(at + 1))?.[1]
  const resource = Object.entries(scopesTexts.resources).find(([name]) => name === scope.slice(0, at))?.[1]
  return verb && resource ? `${verb} ${resource}` : scope
}

/** What a person calls a scope. Those that builders named keep their names. */
export function scopeLabels(scope: string): string {
  return known.get(scope) ?? scope
}
