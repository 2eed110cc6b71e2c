import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Tracing } from '../../../shared/api/blueprints/runs.ts'
import { setTracing } from '../../api/operate.ts'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { tracingQuery, useTracing } from './run-queries.ts'

const MINUTES = 15

export interface Breakpoints {
  /** Guids of the blocks that have one. */
  readonly at: ReadonlySet<string>
  /** Whether runs pause there now: only while the blueprint is traced. */
  readonly hold: boolean
  /** Sets one, or takes it away. Setting one turns tracing on. */
  toggle(block: string): void
}

export function useBreakpoints(): Breakpoints {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.guid)
  const client = useQueryClient()
  const tracing = useTracing().data
  const { queryKey } = tracingQuery(blueprint)
  const { mutate } = useMutation({
    mutationFn: async ({ now, breakpoints }: { now: Tracing; breakpoints: readonly string[] }) => {
      // A block that was only just drawn must be known to the server first.
      await editor.sync.settled()
      const on = now.on || breakpoints.length > now.breakpoints.length
      const minutes = now.on ? minutesLeft(now) : MINUTES
      return setTracing(blueprint, { on, minutes, keep_last: now.keep_last, breakpoints })
    },
    onMutate: ({ now, breakpoints }) => {
      void client.cancelQueries({ queryKey })
      client.setQueryData(queryKey, { ...now, breakpoints })
    },
    onSuccess: (after, { now }) => {
      client.setQueryData(queryKey, after)
      if (after.on && !now.on) notifyDone(runsTexts.tracingBegun(MINUTES))
    },
    onError: (error, { now }) => {
      client.setQueryData(queryKey, now)
      notifyFailed(runsTexts.breakpointNotChanged, error)
    },
  })
  const at = useMemo(() => new Set(tracing?.breakpoints), [tracing?.breakpoints])
  return {
    at,
    hold: tracing?.on === true,
    toggle(block) {
      const { drawing, catalogue } = editor.store.getState()
      const kind = catalogue.get(drawing.flow.get(block)?.type ?? '')?.kind
      if (kind !== 'flow') {
        notifyDone(runsTexts.noBreakpointHere)
        return
      }
      if (!tracing) return
      // Those of blocks that are no longer there would be refused.
      const there = tracing.breakpoints.filter((one) => one !== block && drawing.flow.has(one))
      mutate({ now: tracing, breakpoints: at.has(block) ? there : [...there, block] })
    },
  }
}

/** What is left of the time for which it was turned on, so that a breakpoint changes nothing about it. */
function minutesLeft({ until }: Tracing): number {
  const left = until === null ? 0 : (Date.parse(until) - Date.now()) / 60_000
  return Math.max(1, Math.min(1440, Math.ceil(left)))
}
