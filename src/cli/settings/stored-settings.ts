import { textIn } from '../../storage/document-fields.ts'
import { type Management, recordsOf } from '../management.ts'

interface ListedSetting {
  readonly name: string
  readonly value: string
  readonly source: string
}

export function pathOf(name: string): string {
  return `/_system/settings/${encodeURIComponent(name)}`
}

/** In the order of `quoin start --help`. */
export async function changeableSettings(management: Management): Promise<ListedSetting[]> {
  const all = recordsOf(await management.call('GET', '/_system/settings'))
  return all
    .filter(({ changeable }) => changeable === true)
    .map(({ name, value, source }) => ({ name: textIn(name), value: textIn(value), source: textIn(source) }))
}
