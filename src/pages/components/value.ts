/** Values of documents, written for people. What does not fit its format is written as it is. */
import { type ComponentChild, h } from 'preact'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Tone } from '../../shared/pages/page-content.ts'
import type { ValueFormat } from '../../shared/value-format.ts'
import { imageSource, linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { formatDate, formatDateTime, formatNumber, formatRelative, readMoment } from '../format.ts'
import { badge } from './badge.ts'

export interface ValueLook {
  readonly format: ValueFormat
  readonly currency?: string
  readonly href?: string
}

/** A longer text is cut in a list, with the whole in the document's own page. */
const LONGEST = 2_000

export function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

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

const writers: Readonly<Record<ValueFormat, Writer>> = {
  auto: (value, look, drawing) => {
    if (typeof value === 'number') return formatNumber(value, drawing.locale)
    if (typeof value === 'boolean') return writers.boolean(value, look, drawing)
    return inOrder(asText(value))
  },
  text: (value) => inOrder(asText(value)),
  number: (value, _look, { locale }) => asNumber(value, (number) => formatNumber(number, locale)),
  currency: (value, { currency }, drawing) =>
    asNumber(value, (number) =>
      formatNumber(number, drawing.locale, { style: 'currency', currency: currency ?? drawing.currency }),
    ),
  percent: (value, _look, { locale }) =>
    asNumber(value, (number) => formatNumber(number, locale, { style: 'percent', maximumFractionDigits: 1 })),
  date: (value, _look, { locale }) => {
    const moment = readMoment(value)
    if (!moment) return asText(value)
    return h('time', { dateTime: moment.toISOString().slice(0, 10) }, formatDate(moment, locale))
  },
  date_time: (value, _look, { locale }) => {
    const moment = readMoment(value)
    if (!moment) return asText(value)
    // The module rewrites it in the visitor's time zone, which no request contains.
    return h('time', { dateTime: moment.toISOString(), 'data-local': '' }, formatDateTime(moment, locale))
  },
  relative_time: (value, _look, { locale, now }) => {
    const moment = readMoment(value)
    if (!moment) return asText(value)
    const exact = formatDateTime(moment, locale)
    return h('time', { dateTime: moment.toISOString(), title: exact }, formatRelative(moment, now, locale))
  },
  boolean: (value, _look, { say }) =>
    typeof value === 'boolean' ? say(value ? 'value.yes' : 'value.no') : asText(value),
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
  file: (value, _look, { say }) => {
    const name = isJsonObject(value) && typeof value.name === 'string' ? value.name : undefined
    const address = addressOf(value)
    return address === '' ? (name ?? asText(value)) : h('a', linkTo(address), name ?? say('value.open'))
  },
  json: (value) => h('code', null, cut(JSON.stringify(value))),
}

/** In a text that runs from right to left the plus of a telephone number would stand behind it. */
function inOrder(text: string): ComponentChild {
  return /^[+\d(][\d\s()./-]{3,}$/.test(text) && /\D/.test(text) ? h('bdi', { dir: 'ltr' }, text) : text
}

function asText(value: JsonValue): string {
  if (typeof value === 'string') return cut(value)
  if (Array.isArray(value)) return cut(value.map((one: JsonValue) => asText(one)).join(', '))
  return typeof value === 'object' ? cut(JSON.stringify(value)) : String(value)
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()} …`
}

function asNumber(value: JsonValue, write: (number: number) => string): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? write(number) : asText(value)
}

/** Of a file or an image: its address, however it is stored. */
function addressOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return ''
  const { url, href } = value
  // `href` is what the door puts beside a stored file.
  return typeof href === 'string' ? href : typeof url === 'string' ? url : ''
}

/** States that are called so everywhere get the colour that is expected; a badge always has its word as well. */
const tones: ReadonlyMap<string, Tone> = new Map(
  (
    [
      ['success', 'done won active paid ok approved success completed live erledigt gewonnen aktiv bezahlt'],
      [
        'danger',
        'lost failed overdue blocked error rejected cancelled verloren überfällig gesperrt fehler abgelehnt',
      ],
      ['warning', 'pending waiting late draft high urgent wartend entwurf hoch dringend'],
      ['info', 'new open lead running progress proposal negotiation neu offen läuft angebot'],
    ] as const
  ).flatMap(([tone, words]) => words.split(' ').map((word) => [word, tone] as const)),
)

function toneOf(value: JsonValue): Tone {
  return typeof value === 'string' ? (tones.get(value.trim().toLowerCase()) ?? 'neutral') : 'neutral'
}
