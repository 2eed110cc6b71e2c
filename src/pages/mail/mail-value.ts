import { type ComponentChild, h } from 'preact'
import type { JsonValue } from '../../shared/json.ts'
import type { Tone } from '../../shared/pages/page-content.ts'
import { addressOf, asText, isBlank, toneOf, type ValueLook, valueText } from '../value-text.ts'
import { type MailDrawing, styles, toneColours } from './mail-styles.ts'

/** A value of a document in a mail. Addresses that mail must not have are left as text. */
export function mailValue(
  value: JsonValue | undefined,
  look: ValueLook,
  drawing: MailDrawing,
): ComponentChild {
  const text = valueText(value, look, drawing)
  if (value === undefined || isBlank(value)) return text
  switch (look.format) {
    case 'badge':
      return (Array.isArray(value) ? value : [value]).map((one: JsonValue) => badge(asText(one), toneOf(one)))
    case 'link':
      return mailLink(look.href ?? asText(value), text, drawing)
    case 'email':
      return mailLink(`mailto:${text}`, text, drawing)
    case 'file':
      return mailLink(addressOf(value), text, drawing)
    case 'image': {
      const src = imageAddress(addressOf(value), drawing)
      return src === undefined ? text : h('img', { src, alt: '', style: styles.thumb })
    }
    default:
      return look.href === undefined ? text : mailLink(look.href, text, drawing)
  }
}

export function mailLink(href: string, text: string, { address }: MailDrawing): ComponentChild {
  const whole = address(href)
  return whole === undefined ? text : h('a', { href: whole, style: styles.link }, text)
}

export function imageAddress(src: string, { address }: MailDrawing): string | undefined {
  const whole = address(src)
  return whole !== undefined && /^https?:/i.test(whole) ? whole : undefined
}

export function badge(text: string, tone: Tone): ComponentChild {
  const [ground, ink] = toneColours[tone]
  // A word of it stays whole, but for a text that is no state.
  const wrap = text.length > 20 ? '' : ';white-space:nowrap'
  const style = `display:inline-block;padding:1px 8px;border-radius:10px;font-size:14px;background:${ground};color:${ink}${wrap}`
  return h('span', { class: `q-${tone}`, style }, text)
}
