import { Kbd, Text } from '@mantine/core'
import { Icon } from '../../controls/icon.tsx'
import { countsTexts } from '../../texts/counts.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { leveled } from '../model/fresh-blocks.ts'
import { wordsOf } from '../model/words/block-words.ts'
import { foundWords } from '../model/words/found-words.ts'
import { useChecks, useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './properties.module.css'

/** About the whole blueprint: what keeps it from running, and the keys that help. */
export function OverviewPanel() {
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
        <h2 className={classes.sectionTitle}>{foundWords(problems.length, notes.length, needed.length)}</h2>
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
