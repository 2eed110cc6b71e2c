import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { type PageLink, safeHref, type Tone } from '../../shared/pages/page-content.ts'
import type { RowParts } from '../../shared/rows/row-part.ts'
import { isOneLine } from '../../shared/texts/one-line.ts'
import { LineError, PinError } from '../block.ts'
import { endpointUri } from '../endpoint-uri.ts'

/** A name for a form or table that may stand in an address and in HTML. Throws PinError for the pin. */
export function formId(pin: string, written: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(written)) return written
  throw new PinError(pin, 'must be 1 to 64 letters, digits, _ or -, and begin with a letter')
}

/** An address for a page as a builder gives it on a pin; PinError for one that must not be followed. */
export function pageHref(pin: string, address: string): string {
  const href = safeHref(address)
  if (href === undefined)
    throw new (isOneLine(address.trim()) ? PinError : LineError)(
      pin,
      'must be a path such as /tasks or an address that begins with https://',
    )
  return href
}

// Links as a builder gives them: a list of objects with label and href.

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

/** What a message or a badge is about, for pins that let a builder choose. */
export const tones: readonly Tone[] = ['neutral', 'info', 'success', 'warning', 'danger']

/** Of a pin with these choices. */
export function toneOf(text: string): Tone {
  return tones.find((tone) => tone === text) ?? 'neutral'
}

/** The one spelling of a page's address: as for endpoints, and empty for the start page. Throws PinError('url', …). */
export function pageUri(written: string): string {
  const uri = written.trim().replace(/^\//, '')
  if (uri === '') return ''
  try {
    return endpointUri(uri)
  } catch (error) {
    throw error instanceof PinError ? new PinError('url', error.message) : error
  }
}
