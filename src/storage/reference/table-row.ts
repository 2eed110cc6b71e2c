import { valueAt } from '../../shared/field-path.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { safeHref } from '../../shared/pages/page-content.ts'
import type { TableRow } from '../../shared/pages/page-table.ts'
import { guidOf } from '../document-fields.ts'

/** A document as a row with these cells. `link`: as `rowLink` of a data table. */
export function tableRow(
  link: string | undefined,
  document: JsonObject,
  cells: readonly (JsonValue | undefined)[],
): TableRow {
  const href = link === undefined ? undefined : rowHref(link, document)
  return {
    key: guidOf(document),
    ...(href !== undefined && { href }),
    cells: cells.map((cell) => cell ?? null),
  }
}

/** `/tasks/{_meta.guid}` with the document's values, each as one part of the path. Undefined when one is missing. */
function rowHref(pattern: string, document: JsonObject): string | undefined {
  let missing = false
  const href = pattern.replace(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const value: JsonValue | undefined = valueAt(document, name.split('.'))
    missing ||= value === undefined || value === null || typeof value === 'object'
    return encodeURIComponent(String(value))
  })
  return missing ? undefined : safeHref(href)
}
