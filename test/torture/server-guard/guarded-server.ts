/**
 * Loaded into a server before its program (`NODE_OPTIONS=--import`): writes down the longest time that its event loop was
 * kept busy at a stretch, what was asked last, and the most memory it had. From some seconds after its first request on:
 * what a process loads and compiles when it first needs it is done once, and told apart. When its note is taken away it starts again.
 */
import { subscribe } from 'node:diagnostics_channel'
import { existsSync, writeFileSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { guardTurns } from '../../turn-guard.ts'
import { type GuardWish, LOOK_MS, type ServerRecord } from './server-guard.ts'

/** Requests that are remembered: one that takes a while is not the one that came last. */
const MOST_ASKED = 5
/** After the end of a first request to a path its turn may still be told. */
const FIRST_MS = 100
/** Longest that a first request counts as one. */
const LONGEST_FIRST_MS = 10_000
const MOST_PATHS = 500

const reported = process.env.TURN_GUARD
const isServer = /quoin\.mjs|reader-process/.test(process.argv[1] ?? '')
if (reported !== undefined && isMainThread && isServer) guard(JSON.parse(reported))

function guard({ folder, warm }: GuardWish): void {
  const file = join(folder, `${process.pid}.json`)
  const empty = (): ServerRecord => ({ longestTurn: 0, longestFirst: 0, asked: [], most: 0 })
  let record = empty()
  const asked: string[] = []
  const first = firstUses()
  const write = () => writeFileSync(file, JSON.stringify(record))
  const begin = () => {
    write()
    guardTurns((milliseconds) => {
      // A caller that does not warm up the process has done so before.
      if (warm > 0 && first.underWay()) record.longestFirst = Math.max(record.longestFirst, milliseconds)
      else if (milliseconds > record.longestTurn) {
        record.longestTurn = milliseconds
        record.asked = [...asked]
        write()
      }
    }).unref()
    setInterval(() => {
      if (!existsSync(file)) record = empty()
      record.most = Math.max(record.most, process.memoryUsage.rss())
      write()
    }, LOOK_MS).unref()
  }
  let begun = false
  subscribe('http.server.request.start', (message) => {
    if (!begun) setTimeout(begin, warm).unref()
    begun = true
    const words = requestIn(message)
    asked.push(words)
    if (asked.length > MOST_ASKED) asked.shift()
    first.note(words, message)
  })
}

function requestIn(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('request' in message)) return ''
  const { request } = message
  if (typeof request !== 'object' || request === null || !('method' in request && 'url' in request)) return ''
  return `${request.method} ${request.url}`.slice(0, 200)
}

/** Requests to a path that the process has not answered before: the first reply compiles what writes it, 50 to 110 ms. */
function firstUses() {
  const known = new Set<string>()
  const began = new Set<number>()
  let last = Number.NEGATIVE_INFINITY
  return {
    underWay() {
      const now = performance.now()
      // A stream has no end.
      for (const at of began) if (now - at > LONGEST_FIRST_MS) began.delete(at)
      return began.size > 0 || now - last < FIRST_MS
    },
    note(words: string, message: unknown) {
      const path = words.replace(/\?.*/, '').replaceAll(/[0-9a-f-]{36}/g, '{guid}')
      if (known.has(path) || known.size === MOST_PATHS) return
      known.add(path)
      if (typeof message !== 'object' || message === null || !('response' in message)) return
      const { response } = message
      if (!(response instanceof ServerResponse)) return
      const at = performance.now()
      began.add(at)
      response.once('close', () => {
        if (began.delete(at)) last = performance.now()
      })
    },
  }
}
