/**
 * Loaded into a server before its program (`NODE_OPTIONS=--import`): writes down the longest time that its event loop was
 * kept busy at a stretch, what was asked last, and the most memory it had. From some seconds after its first request on:
 * what a process loads and compiles when it first needs it is done once. When its note is taken away it begins anew.
 */
import { subscribe } from 'node:diagnostics_channel'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { guardTurns } from '../../turn-guard.ts'
import { type GuardWish, LOOK_MS, type ServerRecord } from './server-guard.ts'

/** Requests that are remembered: one that takes a while is not the one that came last. */
const MOST_ASKED = 5

const told = process.env.TURN_GUARD
const isServer = /quoin\.mjs|reader-process/.test(process.argv[1] ?? '')
if (told !== undefined && isMainThread && isServer) guard(JSON.parse(told))

function guard({ folder, warm }: GuardWish): void {
  const file = join(folder, `${process.pid}.json`)
  let record: ServerRecord = { longestTurn: 0, asked: [], most: 0 }
  const asked: string[] = []
  const write = () => writeFileSync(file, JSON.stringify(record))
  const begin = () => {
    write()
    guardTurns((milliseconds) => {
      if (milliseconds <= record.longestTurn) return
      record.longestTurn = milliseconds
      record.asked = [...asked]
      write()
    }).unref()
    setInterval(() => {
      if (!existsSync(file)) record = { longestTurn: 0, asked: [], most: 0 }
      record.most = Math.max(record.most, process.memoryUsage.rss())
      write()
    }, LOOK_MS).unref()
  }
  let begun = false
  subscribe('http.server.request.start', (message) => {
    if (!begun) setTimeout(begin, warm).unref()
    begun = true
    asked.push(requestIn(message))
    if (asked.length > MOST_ASKED) asked.shift()
  })
}

function requestIn(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('request' in message)) return ''
  const { request } = message
  if (typeof request !== 'object' || request === null || !('method' in request && 'url' in request)) return ''
  return `${request.method} ${request.url}`.slice(0, 200)
}
