import { Kbd, Text } from '@mantine/core'
import { Icon } from '../../controls/icon.tsx'
import { wordsOf } from '../model/block-words.ts'
import { foundWords } from '../model/found-words.ts'
import { count } from '../model/words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './properties.module.css'

/** About the whole blueprint: what keeps it from running, and the keys that help. */
export function OverviewPanel() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.blueprint)
  const { flow } = useEditorState((state) => state.drawing)
  const catalogue = useEditorState((state) => state.catalogue)
  const { problems, notes } = useEditorState((state) => state.checked)
  const all = [
    ...problems.map((one) => ({ ...one, level: 'error' as const })),
    ...notes.map((one) => ({ ...one })),
  ]
  return (
    <section className={classes.panel} aria-label="Overview">
      <div className={classes.head}>
        <Text fw={650}>{blueprint?.name}</Text>
        {blueprint?.description ? <p className={classes.help}>{blueprint.description}</p> : null}
        <span className={classes.kind}>{count(flow.size, 'block')}</span>
      </div>
      <div className={classes.section}>
        <h2 className={classes.sectionTitle}>{foundWords(problems.length, notes.length)}</h2>
        {all.length === 0 ? (
          <p className={classes.help}>{flow.size === 0 ? 'No blocks yet.' : 'Ready to deploy.'}</p>
        ) : null}
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
              <Icon name="warning" size={15} />
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
        <h2 className={classes.sectionTitle}>Keys</h2>
        <div className={classes.keys}>
          <Kbd size="xs">A</Kbd> <span>add a block, or double-click the canvas</span>
          <Kbd size="xs">O</Kbd> <span>canvas or outline</span>
          <Kbd size="xs">T</Kbd> <span>try it</span>
          <Kbd size="xs">R</Kbd> <span>runs</span>
          <Kbd size="xs">Ctrl S</Kbd> <span>save</span>
          <Kbd size="xs">Ctrl ⏎</Kbd> <span>deploy</span>
          <Kbd size="xs">?</Kbd> <span>all keys</span>
        </div>
      </div>
    </section>
  )
}
