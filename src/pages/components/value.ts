/** Values of documents, written for people. What does not fit its format is written as it is. */
import { type ComponentChild, h } from 'preact'
import { localTime } from '../../shared/dates/dates.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { Tone } from '../../shared/pages/page-content.ts'
import type { ValueFormat } from '../../shared/value-format.ts'
import { imageSource, linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { formatDateTime, readMoment, zoneOfValue } from '../format.ts'
import { addressOf, asText, isBlank, toneOf, type ValueLook, valueText } from '../value-text.ts'

export function drawValue(value: JsonValue | undefined, look: ValueLook, drawing: Drawing): ComponentChild {
  const { say } = drawing
  if (value === undefined || isBlank(value))
    return h(
      'span',
      { class: 'soft' },
      h('span', { 'aria-hidden': 'true' }, say('value.none')),
      unseen(say('value.none.label')),
    )
  const content = writers[look.format](value, look, drawing)
  if (look.href === undefined || look.format === 'link' || look.format === 'email') return content
  return h('a', linkTo(look.href), content)
}

function unseen(text: string): ComponentChild {
  return h('span', { class: 'unseen' }, text)
}

type Writer = (value: JsonValue, look: ValueLook, drawing: Drawing) => ComponentChild

const written: Writer = (value, look, drawing) => valueText(value, look, drawing)

const writers: Readonly<Record<ValueFormat, Writer>> = {
  auto: (value, look, drawing) =>
    typeof value === 'number' || typeof value === 'boolean'
      ? valueText(value, look, drawing)
      : inOrder(asText(value)),
  text: (value) => inOrder(asText(value)),
  number: written,
  currency: written,
  percent: written,
  date: (value, look, drawing) => {
    const text = valueText(value, look, drawing)
    const moment = readMoment(value)
    return moment
      ? h(
          'time',
          { dateTime: localTime(moment.getTime(), zoneOfValue(value, drawing.timeZone)).slice(0, 10) },
          text,
        )
      : text
  },
  date_time: (value, look, drawing) => {
    const text = valueText(value, look, drawing)
    const moment = readMoment(value)
    return moment ? h('time', { dateTime: moment.toISOString(), title: drawing.timeZone }, text) : text
  },
  relative_time: (value, look, drawing) => {
    const text = valueText(value, look, drawing)
    const moment = readMoment(value)
    if (!moment) return text
    const exact = formatDateTime(moment, drawing.locale, drawing.timeZone)
    return h('time', { dateTime: moment.toISOString(), title: exact }, text)
  },
  boolean: written,
  badge: (value) =>
    Array.isArray(value)
      ? h(
          'span',
          { class: 'row' },
          value.map((one: JsonValue) => badge({ text: asText(one), tone: toneOf(one) })),
        )
      : badge({ text: asText(value), tone: toneOf(value) }),
  link: (value, { href }) => {
    const text = asText(value)
    return h('a', linkTo(href ?? text), text)
  },
  email: (value) => {
    const text = asText(value)
    return h('a', linkTo(`mailto:${text}`), text)
  },
  image: (value) => {
    const src = imageSource(addressOf(value))
    return src === undefined ? asText(value) : h('img', { class: 'thumb', src, alt: '', loading: 'lazy' })
  },
  file: (value, look, drawing) => {
    const text = valueText(value, look, drawing)
    const address = addressOf(value)
    return address === '' ? text : h('a', linkTo(address), text)
  },
  json: (value, look, drawing) => h('code', null, valueText(value, look, drawing)),
}

/** In a text that runs from right to left the plus of a telephone number would stand behind it. */
function inOrder(text: string): ComponentChild {
  return /^[+\d(][\d\s()./-]{3,}$/.test(text) && /\D/.test(text) ? h('bdi', { dir: 'ltr' }, text) : text
}

export function badge({ text, tone }: { readonly text: string; readonly tone: Tone }): ComponentChild {
  return h('span', { class: `badge ${tone}` }, text)
}
