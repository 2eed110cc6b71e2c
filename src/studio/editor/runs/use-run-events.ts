import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { RunSummary } from '../../../shared/api/blueprints/runs.ts'
import { ApiError } from '../../api/api-error.ts'
import { send } from '../../api/request.ts'
import { isFailed, withRun } from '../model/runs/run-list.ts'
import { useEditorState } from '../state/editor-context.ts'
import { pausedQuery, runCountsQuery, runQuery, runsKey, runsQuery, useTracing } from './run-queries.ts'

/**
 * Hears of runs as they happen, while they are visible: while the blueprint is traced or its list of runs is open, and the
 * tab is in sight. A browser opens six connections to a server, so an unused one is a waste.
 */
export function useRunEvents(): void {
  const blueprint = useEditorState((state) => state.guid)
  const isListOpen = useEditorState(({ panel }) => panel === 'runs')
  const isTraced = useTracing().data?.on === true
  const isVisible = useDocumentVisibility() === 'visible'
  const client = useQueryClient()
  const isListening = (isListOpen || isTraced) && isVisible
  useEffect(() => {
    if (!isListening) return undefined
    const abort = new AbortController()
    const listener = {
      run(summary: RunSummary) {
        for (const failed of isFailed(summary) ? [false, true] : [false])
          client.setQueryData(runsQuery(blueprint, failed).queryKey, (list) => list && withRun(list, summary))
        // One at a time, however many runs there are.
        const { queryKey } = runCountsQuery(blueprint)
        void client.invalidateQueries({ queryKey }, { cancelRefetch: false })
        void client.invalidateQueries({ queryKey: runQuery(summary.guid).queryKey })
        void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
      },
      opened() {
        void client.invalidateQueries({ queryKey: runsKey(blueprint) })
        void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
      },
    }
    void watchRuns(blueprint, listener, abort.signal)
    return () => abort.abort()
  }, [blueprint, client, isListening])
}

interface RunListener {
  /** A traced run began, is paused or has ended. */
  run(summary: RunSummary): void
  /** The stream is open, again perhaps: what was told meanwhile is missed. */
  opened(): void
}

const RETRY_MS = 3_000

/**
 * Hears of the runs of a blueprint until the signal ends it. With `fetch` and not with an EventSource, which cannot carry the
 * token. A server that is away for a moment, or busy, is asked again; one that refuses is not.
 */
async function watchRuns(blueprint: string, listener: RunListener, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await send('GET', '/runs/stream', { query: { blueprint }, signal })
      listener.opened()
      await listen(response, listener)
    } catch (error) {
      if (signal.aborted || isRefused(error)) return
    }
    await pause(RETRY_MS, signal)
  }
}

/** Whether asking again is of no use: too many requests (429) and too slow a request (408) are over in a moment. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  const { status } = error
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

async function listen(response: Response, listener: RunListener): Promise<void> {
  const read = eventReader()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    // The server sends this type.
    for (const { name, data } of read(value)) if (name === 'run') listener.run(JSON.parse(data) as RunSummary)
  }
}

/** Leaves nothing at the signal, which lasts as long as the editor. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}

interface ServerEvent {
  readonly name: string
  readonly data: string
}

/**
 * Reads server-sent events out of text as it comes in, in whatever pieces. What is not whole yet waits for the next piece;
 * comments and events without data are passed over.
 */
export function eventReader(): (piece: string) => ServerEvent[] {
  let waiting = ''
  return (piece) => {
    const blocks = (waiting + piece.replaceAll('\r\n', '\n')).split('\n\n')
    waiting = blocks.pop() ?? ''
    return blocks.flatMap(read)
  }
}

function read(block: string): ServerEvent[] {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field === 'event' && value !== undefined) name = value
    if (field === 'data' && value !== undefined) data.push(value)
  }
  return data.length === 0 ? [] : [{ name, data: data.join('\n') }]
}
