/**
 * Switches a blueprint off and on, again and again, and asks every node after each acknowledgement. Between the answer to
 * a deactivation and the next activation no node may serve the route; after the answer to an activation no client
 * may be told that there is none.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { callNode } from './call-node.ts'

export interface SwitchFigures {
  deactivations: number
  activations: number
  /** Changes that were answered with 503 or not at all, and asked for again. */
  unanswered: number
  /** Requests to nodes after an acknowledgement. */
  asked: number
  /** Of them those that a node refused with 503, because it had lost the others. */
  fenced: number
  /** Longest time until a change was acknowledged, milliseconds. */
  slowest: number
  /** What must not happen: 200 while it was off, 404 while it was on, any other 5xx. The first of them. */
  readonly wrong: string[]
}

export interface SwitchWatch {
  readonly figures: SwitchFigures
  stop(): Promise<void>
}

export interface Watched {
  /** Where the blueprint is switched. */
  readonly address: string
  readonly token: string
  /** Of the blueprint. */
  readonly guid: string
  /** All nodes, each by itself. */
  readonly nodes: () => readonly string[]
}

/** How long and how often each node is asked after an acknowledgement. */
const ASKED_TIMES = 5
const ASKED_EVERY_MS = 40
const MAX_REPORTED = 20

export function watchSwitch({ address, token, guid, nodes }: Watched): SwitchWatch {
  const figures: SwitchFigures = {
    deactivations: 0,
    activations: 0,
    unanswered: 0,
    asked: 0,
    fenced: 0,
    slowest: 0,
    wrong: [],
  }
  let stopped = false

  function wrong(what: string): void {
    if (figures.wrong.length < MAX_REPORTED) figures.wrong.push(what)
  }

  /** Resolves with false when it was stopped before an acknowledgement. */
  async function change(state: 'active' | 'inactive'): Promise<boolean> {
    while (!stopped) {
      const path = `/blueprints/update/set/${state}/${guid}`
      const { status, took, body } = await callNode(address, path, { method: 'PUT', token })
      if (status === 200) {
        figures.slowest = Math.max(figures.slowest, took)
        return true
      }
      figures.unanswered += 1
      if (status !== 503) wrong(`set ${state}: ${status} ${JSON.stringify(body)}`)
      await wait(50)
    }
    return false
  }

  async function ask(isWrong: (status: number | 'none' | 'late') => boolean, state: string): Promise<void> {
    const each = nodes().map(async (node, number) => {
      for (let times = 0; times < ASKED_TIMES; times++) {
        const { status } = await callNode(node, '/switch')
        figures.asked += 1
        if (status === 503) figures.fenced += 1
        if (isWrong(status)) wrong(`node ${number} answered ${status} while it was ${state}`)
        await wait(ASKED_EVERY_MS)
      }
    })
    await Promise.all(each)
  }

  async function watch(): Promise<void> {
    while (!stopped) {
      if (!(await change('inactive'))) return
      figures.deactivations += 1
      await ask((status) => status !== 404 && status !== 503 && status !== 'none', 'off')
      if (!(await change('active'))) return
      figures.activations += 1
      await ask((status) => status !== 200 && status !== 503 && status !== 'none', 'on')
    }
  }

  const watching = watch()
  return {
    figures,
    async stop() {
      stopped = true
      await watching
    },
  }
}
