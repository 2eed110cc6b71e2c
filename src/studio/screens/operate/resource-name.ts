import { wordsOfField } from '../../../shared/fields/field-names.ts'
import { operateTexts } from '../../texts/operate.ts'

const names: ReadonlyMap<string, string> = new Map(Object.entries(operateTexts.resources))

/** For a filter: the resources of the audit log in the order of their names. */
export const resourceOptions = [...names]
  .map(([value, label]) => ({ value, label }))
  .toSorted((a, b) => (a.label < b.label ? -1 : 1))

/** What people call a resource of the audit log; a newer server may know more of them. */
export function resourceName(category: string): string {
  return names.get(category) ?? wordsOfField(category)
}

/** Names of fields that changed: `custom_scopes` → `custom scopes`. */
export function changedWords(fields: readonly string[]): string {
  return fields.map((field) => field.replaceAll('_', ' ')).join(', ')
}
