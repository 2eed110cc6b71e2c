import { Alert, Loader, Modal, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import { useLocation } from 'wouter'
import type { FunctionPlace, FunctionUses } from '../../../shared/api/blocks/blocks.ts'
import { call } from '../../api/request.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { editorTexts } from '../../texts/editor.ts'
import { namesInFlow } from '../expressions/block-refs.ts'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import { callsOf, ownFunction } from '../gestures/function-blocks.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './uses-dialog.module.css'

/** Where a custom function is and what calls it, in all blueprints; a click goes there. */
export function UsesDialog() {
  const editor = useEditor()
  const uses = useEditorState(({ dialog }) => (dialog?.kind === 'uses' ? dialog : undefined))
  return (
    <Modal
      opened={uses !== undefined}
      onClose={() => editor.set({ dialog: undefined })}
      title={
        <Text fw={650} size="sm">
          {uses ? editorTexts.function(uses.name) : ''}
        </Text>
      }
      size={460}
      yOffset="12vh"
      centered={false}
    >
      {uses ? <Uses name={uses.name} isDefinition={uses.isDefinition === true} /> : null}
    </Modal>
  )
}

interface UsesProps {
  readonly name: string
  /** Goes to the function at once where there is one. */
  readonly isDefinition: boolean
}

function Uses({ name, isDefinition }: UsesProps) {
  const editor = useEditor()
  const [, go] = useLocation()
  const guid = useEditorState((state) => state.guid)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const title = useEditorState(({ blueprint }) => blueprint?.name ?? '')
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['function-uses', name],
    queryFn: ({ signal }) =>
      call<FunctionUses>('GET', `/blocks/functions/${encodeURIComponent(name)}`, { signal }),
    gcTime: 0,
  })
  const show = useCallback(
    ({ blueprint, block }: FunctionPlace) => {
      editor.set({ dialog: undefined })
      if (blueprint === guid) {
        editor.focusPin(block, '')
        focusDrawingIn(50)
      } else go(`/blueprints/${blueprint}?block=${block}`)
    },
    [editor, guid, go],
  )
  const uses = data && presentUses(data, flow, { guid, title }, name)
  const only = isDefinition && uses?.functions.length === 1 ? uses.functions[0] : undefined
  useEffect(() => {
    if (only) show(only)
  }, [only, show])
  if (error) return <ErrorNotice title={editorTexts.usesFailed} error={error} onRetry={refetch} />
  if (isPending || !uses) return <Loader size="sm" aria-label={editorTexts.loading} />
  return (
    <>
      <Places label={editorTexts.definedIn} places={uses.functions} onShow={show} />
      <Places label={editorTexts.calledIn} places={uses.calls} onShow={show} />
      {uses.whole ? null : (
        <Alert color="sand" mt="sm">
          {editorTexts.moreUses}
        </Alert>
      )}
      <Text size="xs" c="dimmed" mt="sm">
        {editorTexts.usesHelp}
      </Text>
    </>
  )
}

interface PlacesProps {
  readonly label: string
  readonly places: readonly FunctionPlace[]
  readonly onShow: (place: FunctionPlace) => void
}

function Places({ label, places, onShow }: PlacesProps) {
  const catalogue = useEditorState((state) => state.catalogue)
  return (
    <section>
      <h2 className={classes.label}>{label}</h2>
      {places.length === 0 ? (
        <Text size="sm" c="dimmed">
          {editorTexts.noBlueprint}
        </Text>
      ) : (
        <ul className={classes.list}>
          {places.map((place) => (
            <li key={place.block}>
              <button type="button" className={classes.place} onClick={() => onShow(place)}>
                <span className={classes.blueprint}>{place.blueprint_name}</span>
                <span className={classes.block}>{wordsOf(place, catalogue)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function wordsOf({ title, type, name }: FunctionPlace, catalogue: Catalogue): string {
  return `${title || (catalogue.get(type)?.title ?? type)} · ${name}`
}

/** The uses of a function with those of the open blueprint as they are drawn, which the server may not have yet. They come first. */
function presentUses(
  { functions, calls, whole }: FunctionUses,
  flow: Flow,
  open: { readonly guid: string; readonly title: string },
  name: string,
): FunctionUses {
  const names = namesInFlow(flow)
  const here = (guids: readonly string[]): FunctionPlace[] =>
    guids.map((block) => ({
      ...{ blueprint: open.guid, blueprint_name: open.title, block },
      ...{ type: flow.get(block)?.type ?? '', name: names.get(block) ?? '' },
      title: flow.get(block)?.title ?? '',
    }))
  const elsewhere = (places: readonly FunctionPlace[]) =>
    places.filter(({ blueprint }) => blueprint !== open.guid)
  const own = [...flow.keys()].filter((guid) => ownFunction(flow, guid) === name)
  return {
    functions: [...here(own), ...elsewhere(functions)],
    calls: [...here(callsOf(flow, name)), ...elsewhere(calls)],
    whole,
  }
}
