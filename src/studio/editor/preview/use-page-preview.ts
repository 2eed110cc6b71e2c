import { useComputedColorScheme } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { previewPage } from '../api/editor-api.ts'
import { useEditorState } from '../state/editor-context.ts'

/** Milliseconds without another change, after which the page is made again. */
const PAUSE = 400

/** The page as its staged blocks show it, made again when they are changed and stored. One request is sent at a time. */
export function usePagePreview(page: string, parameters: Readonly<Record<string, string>>, query: string) {
  const blueprint = useEditorState(({ guid }) => guid)
  const known = useEditorState((state) => state.known)
  const isStored = useEditorState(({ storing }) => storing.state === 'stored')
  const theme = useComputedColorScheme('light')
  const [settled, setSettled] = useState({ known, count: 0 })
  useEffect(() => {
    if (!isStored || settled.known === known) return undefined
    const timer = setTimeout(() => setSettled({ known, count: settled.count + 1 }), PAUSE)
    return () => clearTimeout(timer)
  }, [known, isStored, settled])
  return useQuery({
    queryKey: ['preview', blueprint, page, parameters, query, theme, settled.count],
    // A request for what was drawn before is ended when the next one begins.
    queryFn: ({ signal }) => previewPage(blueprint, { page, parameters, query, theme }, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
}
