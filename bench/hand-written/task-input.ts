import { Refusal } from './refusal.ts'
import type { TaskFields } from './task-store.ts'

/** The body of POST /tasks; undefined without a title. */
export function newTask(body: unknown): TaskFields | undefined {
  const fields = objectOf(body)
  const { title, status } = fields
  const read = textOf('title', title)
  if (read === undefined || read.trim() === '') return undefined
  return withTexts(fields, read, textOf('status', status))
}

/** The body of PUT /tasks/:guid: what changes; undefined if that takes the title away. */
export function changedTask(body: unknown): TaskFields | undefined {
  const fields = objectOf(body)
  const { title, status } = fields
  const read = textOf('title', title)
  if (Object.hasOwn(fields, 'title') && (read === undefined || read.trim() === '')) return undefined
  return withTexts(fields, read, textOf('status', status))
}

function withTexts(fields: TaskFields, title: string | undefined, status: string | undefined): TaskFields {
  const { _meta, ...own } = fields
  return { ...own, ...(title !== undefined && { title }), ...(status !== undefined && { status }) }
}

function objectOf(body: unknown): TaskFields {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) throw new Refusal(400, 'body must be an object')
  return { ...body }
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Refusal(400, `${name} must be text`)
}

/** A paging parameter. */
export function wholeNumber(query: TaskFields, name: string, fallback: number): number {
  const text = parameter(query, name)
  if (text === undefined) return fallback
  const number = /^\s*\+?\d+\s*$/.test(text) ? Number(text) : Number.NaN
  if (number >= 0 && number <= 10_000) return number
  const must = 'must be a whole number from 0 to 10,000'
  throw new Refusal(400, `${name} ${must}`, { [name]: must })
}

/** A query parameter; the first one if it was sent several times, undefined if it is empty. */
export function parameter(query: TaskFields, name: string): string | undefined {
  const value = query[name]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first !== '' ? first : undefined
}
