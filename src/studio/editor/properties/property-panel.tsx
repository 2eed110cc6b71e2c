import { Button, Group, Kbd, ScrollArea, SegmentedControl, Select, Text, Textarea } from '@mantine/core'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { Icon } from '../../controls/icon.tsx'
import { countsTexts, editorTexts } from '../../texts/editor.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { foldFrame, unfoldBox } from '../folds/fold-commands.ts'
import { useFolds } from '../folds/use-folds.ts'
import { noteColors } from '../model/changes/note.ts'
import { leveled } from '../model/fresh-blocks.ts'
import type { Alignment } from '../model/places/align.ts'
import { foundLabels, wordsOf } from '../model/words/block-labels.ts'
import {
  alignSelected,
  copySelected,
  groupSelected,
  layOut,
  removeSelected,
} from '../state/editor-commands.ts'
import { useChecks, useEditor, useEditorState } from '../state/editor-context.ts'
import { BlockForm } from './block-form.tsx'
import { LazyInput } from './lazy-input.tsx'
import classes from './properties.module.css'

const alignments: readonly (readonly [Alignment, string])[] = [
  ['left', propertiesTexts.leftEdges],
  ['right', propertiesTexts.rightEdges],
  ['top', propertiesTexts.tops],
  ['bottom', propertiesTexts.bottoms],
  ['across', propertiesTexts.spreadAcross],
  ['down', propertiesTexts.spreadDown],
]

/** What can be done with several things at once. */
function SeveralPanel() {
  const editor = useEditor()
  const size = useEditorState(({ selection }) => selection.size)
  return (
    <section className={classes.panel} aria-label={propertiesTexts.properties}>
      <Text fw={650}>{propertiesTexts.selected(size)}</Text>
      <div className={classes.section}>
        <h2 className={classes.sectionTitle}>{propertiesTexts.align}</h2>
        <Group gap={6}>
          {alignments.map(([how, label]) => (
            <Button key={how} size="compact-xs" variant="default" onClick={() => alignSelected(editor, how)}>
              {label}
            </Button>
          ))}
        </Group>
      </div>
      <div className={classes.section}>
        <Group gap={6}>
          <Button size="compact-xs" variant="default" onClick={() => void layOut(editor)}>
            {propertiesTexts.arrange}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => groupSelected(editor)}>
            {propertiesTexts.frame}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => void copySelected(editor)}>
            {propertiesTexts.copy}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => editor.set({ dialog: { kind: 'extract' } })}
          >
            {propertiesTexts.extractToAFunction}
          </Button>
          <Button size="compact-xs" variant="default" color="red" onClick={() => removeSelected(editor)}>
            {propertiesTexts.remove}
          </Button>
        </Group>
      </div>
    </section>
  )
}

/** About what is selected: one block, a remark, several of them, or the whole blueprint. */
export function PropertyPanel() {
  const selection = useEditorState((state) => state.selection)
  const notes = useEditorState(({ drawing }) => drawing.notes)
  const [only] = selection
  const note = selection.size === 1 ? notes.find(({ id }) => only === `note:${id}`) : undefined
  return (
    <ScrollArea
      // Of another block its top is shown.
      key={selection.size === 1 ? only : ''}
      h="100%"
      type="auto"
      scrollbarSize={8}
      // The overview may hold nothing that takes the focus, and on a phone it does not fit: keys scroll it.
      viewportProps={selection.size === 0 ? { tabIndex: 0 } : {}}
    >
      {selection.size === 0 || only === undefined ? (
        <OverviewPanel />
      ) : selection.size > 1 ? (
        <SeveralPanel />
      ) : note ? (
        <NoteForm key={note.id} note={note} />
      ) : (
        <BlockForm key={only} guid={only} />
      )}
    </ScrollArea>
  )
}

function titleOfNote({ collapsed, kind }: BlueprintNote): string {
  if (collapsed?.lane) return propertiesTexts.lane
  return kind === 'group' ? propertiesTexts.frame : propertiesTexts.remark
}

/** A remark or a frame on the canvas. */
function NoteForm({ note }: { readonly note: BlueprintNote }) {
  const editor = useEditor()
  const change = (patch: Partial<BlueprintNote>) =>
    editor.runOnNotes(
      propertiesTexts.changeRemark,
      (notes) => notes.map((one) => (one.id === note.id ? { ...one, ...patch } : one)),
      `note ${note.id}`,
    )
  return (
    <section className={classes.panel} aria-label={propertiesTexts.properties}>
      <Text fw={650}>{titleOfNote(note)}</Text>
      {note.kind === 'group' ? <FoldButton note={note.id} /> : null}
      <LazyInput
        value={note.text}
        onCommit={(text) => change({ text })}
        render={(field) => (
          <Textarea
            {...field}
            size="xs"
            label={propertiesTexts.text}
            autosize
            minRows={3}
            maxLength={10_000}
          />
        )}
      />
      <Select
        size="xs"
        label={propertiesTexts.colour}
        data={[...noteColors]}
        value={note.color}
        allowDeselect={false}
        onChange={(color) => color && change({ color })}
      />
      {note.collapsed ? null : (
        <SegmentedControl
          size="xs"
          data={[
            { value: 'note', label: propertiesTexts.remark },
            { value: 'group', label: propertiesTexts.frame },
          ]}
          value={note.kind}
          onChange={(kind) => change({ kind: kind === 'group' ? 'group' : 'note' })}
        />
      )}
      <p className={classes.help}>{propertiesTexts.remarkHelp}</p>
      <Button
        size="xs"
        variant="default"
        onClick={() => removeSelected(editor)}
        style={{ alignSelf: 'flex-start' }}
      >
        {propertiesTexts.remove}
      </Button>
    </section>
  )
}

/** About the whole blueprint: what keeps it from running, and the keys that help. */
function OverviewPanel() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.blueprint)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const checks = useChecks()
  const { problems, needed, notes } = checks
  const all = leveled(checks)
  return (
    <section className={classes.panel} aria-label={propertiesTexts.overview}>
      <div className={classes.head}>
        <Text fw={650}>{blueprint?.name}</Text>
        {blueprint?.description ? <p className={classes.help}>{blueprint.description}</p> : null}
        <span className={classes.kind}>{countsTexts.blocks(flow.size)}</span>
      </div>
      <div className={classes.section}>
        <h2 className={classes.sectionTitle}>{foundLabels(problems.length, notes.length, needed.length)}</h2>
        {all.length === 0 ? <p className={classes.help}>{propertiesTexts.noProblems(flow.size)}</p> : null}
        {all.map(({ block, pin, message, level }) => {
          const content = flow.get(block)
          return (
            <button
              type="button"
              key={`${block} ${pin} ${message}`}
              className={`${classes.problem} ${classes.problemButton}`}
              data-level={level}
              disabled={!content}
              onClick={() => editor.focusPin(block, pin ?? '')}
            >
              <Icon name={level === 'needed' ? 'info' : 'warning'} size={15} />
              <span>
                {content ? (
                  <b>
                    {wordsOf(flow, catalogue, block).title}
                    {pin ? ` · ${pin}` : ''}:{' '}
                  </b>
                ) : null}
                {message}
              </span>
            </button>
          )
        })}
      </div>
      <div className={`${classes.section} ${classes.keysSection}`}>
        <h2 className={classes.sectionTitle}>{propertiesTexts.keys}</h2>
        <div className={classes.keys}>
          <Kbd size="xs">A</Kbd> <span>{propertiesTexts.keyAdd}</span>
          <Kbd size="xs">O</Kbd> <span>{propertiesTexts.keyOutline}</span>
          <Kbd size="xs">T</Kbd> <span>{propertiesTexts.keyTry}</span>
          <Kbd size="xs">R</Kbd> <span>{propertiesTexts.keyRuns}</span>
          <Kbd size="xs">{propertiesTexts.ctrlS}</Kbd> <span>{propertiesTexts.keySave}</span>
          <Kbd size="xs">{propertiesTexts.ctrl}</Kbd> <span>{propertiesTexts.keyDeploy}</span>
          <Kbd size="xs">?</Kbd> <span>{propertiesTexts.keyAll}</span>
        </div>
      </div>
    </section>
  )
}

/** In the panel of a frame or a collapsed lane. */
function FoldButton({ note }: { readonly note: string }) {
  const editor = useEditor()
  const isBox = useFolds().boxes.has(`note:${note}`)
  return (
    <Button
      size="xs"
      variant="default"
      style={{ alignSelf: 'flex-start' }}
      onClick={() => (isBox ? unfoldBox(editor, note) : foldFrame(editor, note))}
    >
      {isBox ? editorTexts.expandText : editorTexts.collapseToOneBox}
    </Button>
  )
}
