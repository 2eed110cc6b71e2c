/** Links as a builder gives them: a list of objects with label and href. */
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { PageLink } from '../../shared/pages/page-content.ts'
import type { RowParts } from '../../shared/rows/row-part.ts'
import { PinError } from '../block.ts'
import { pageHref } from './page-href.ts'

const MAX_LINKS = 200

export const linkParts: RowParts = {
  label: { kind: 'text' },
  href: { kind: 'text' },
  current: { kind: 'switch' },
}

export function pageLinks(pin: string, items: readonly JsonValue[]): readonly PageLink[] {
  if (items.length > MAX_LINKS) throw new PinError(pin, `must hold at most ${MAX_LINKS} links`)
  return items.map((item) => {
    const { label, href, current } = isJsonObject(item) ? item : {}
    if (typeof label !== 'string' || label === '' || typeof href !== 'string')
      throw new PinError(pin, 'must be a list of objects with label and href')
    return { label, href: pageHref(pin, href), ...(typeof current === 'boolean' && { current }) }
  })
}
