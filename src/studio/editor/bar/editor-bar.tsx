import { ActionIcon, Badge, Button, Group, Menu, SegmentedControl, Text, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { Icon } from '../../controls/icon.tsx'
import { isOpenable } from '../../controls/pages/page-path.ts'
import { barTexts, tryTexts } from '../../texts/bar.ts'
import { useDeployedPages } from '../api/deployed-pages.ts'
import { pagesOf } from '../model/endpoints.ts'
import { foundLabels } from '../model/words/block-labels.ts'
import { usePausedRuns, useTracing } from '../runs/run-queries.ts'
import { useChecks, useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './editor-bar.module.css'
import { MoreMenu } from './more-menu.tsx'
import { StageStatus } from './stage-status.tsx'

/** As in the style sheet of the bar: what is needed less is in the menu then, so that the buttons are one line. */
const PHONE = '(max-width: 700px)'

/** The name, whether it answers, what is staged, and what can be done with it. */
export function EditorBar() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.blueprint)
  const view = useEditorState((state) => state.view)
  const panel = useEditorState((state) => state.panel)
  const last = useEditorState(({ history }) => history.done.at(-1)?.label)
  const next = useEditorState(({ history }) => history.undone.at(-1)?.label)
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  return (
    <header className={classes.bar}>
      <Group gap={8} wrap="nowrap" className={classes.side}>
        <Link href="/blueprints" className={classes.back}>
          {barTexts.blueprints}
        </Link>
        <span className={classes.slash}>/</span>
        <h1 className={classes.name}>{blueprint?.name ?? '…'}</h1>
        {blueprint ? (
          <Badge
            color={blueprint.active ? 'petrol' : 'gray'}
            variant={blueprint.active ? 'filled' : 'light'}
            size="sm"
            className={classes.state}
            style={{ flexShrink: 0 }}
          >
            {blueprint.active ? barTexts.activeVersion(blueprint.version) : barTexts.inactive}
          </Badge>
        ) : null}
      </Group>
      <Group gap={6} wrap="nowrap">
        <SegmentedControl
          size="xs"
          aria-label={barTexts.view}
          data={[
            { value: 'canvas', label: barTexts.canvas },
            { value: 'outline', label: barTexts.outline },
          ]}
          value={view}
          onChange={(to) => editor.set({ view: to === 'outline' ? 'outline' : 'canvas' })}
        />
        <Tooltip label={last === undefined ? barTexts.nothingToUndo : barTexts.undo(last)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={barTexts.undoLabel}
            aria-disabled={last === undefined}
            style={{ opacity: last === undefined ? 0.4 : 1 }}
            onClick={editor.undo}
          >
            <Icon name="restore" size={17} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={next === undefined ? barTexts.nothingToRedo : barTexts.redo(next)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={barTexts.redoLabel}
            aria-disabled={next === undefined}
            style={{ opacity: next === undefined ? 0.4 : 1 }}
            onClick={editor.redo}
          >
            <Icon name="refresh" size={17} />
          </ActionIcon>
        </Tooltip>
      </Group>
      <Group
        gap={isPhone ? 6 : 8}
        wrap="nowrap"
        className={`${classes.side} ${classes.actions}`}
        justify="flex-end"
      >
        <ChecksButton />
        <StageStatus isPhone={isPhone} />
        <Button
          size="xs"
          variant={panel === 'try' ? 'light' : 'default'}
          leftSection={isPhone ? undefined : <Icon name="play" size={13} />}
          aria-pressed={panel === 'try'}
          onClick={() => editor.set({ panel: panel === 'try' ? 'properties' : 'try' })}
        >
          {barTexts.tryIt}
        </Button>
        {isPhone ? null : <PreviewButton />}
        <RunsButton />
        <OpenPagesMenu />
        <Button size="xs" onClick={() => editor.set({ dialog: { kind: 'deploy' } })}>
          {blueprint?.active || isPhone ? barTexts.deploy : barTexts.deployAndActivate}
        </Button>
        <MoreMenu isPhone={isPhone} />
      </Group>
      <Text className={classes.live} role="status" aria-live="polite">
        {last === undefined ? '' : barTexts.done(last)}
      </Text>
    </header>
  )
}

/** That something was found which keeps the blueprint from running, or is probably a mistake; leads to the list of it. */
function ChecksButton() {
  const editor = useEditor()
  const { problems, needed, notes } = useChecks()
  const found = problems.length + notes.length + needed.length
  if (found === 0) return null
  const words = foundLabels(problems.length, notes.length, needed.length)
  return (
    <Tooltip label={barTexts.problemsButton(words)}>
      <Button
        size="xs"
        variant="light"
        color={problems.length > 0 ? 'red' : notes.length > 0 ? 'sand' : 'gray'}
        px={8}
        leftSection={<Icon name={problems.length + notes.length > 0 ? 'warning' : 'info'} size={14} />}
        // The name has the number that is seen: there may be problems, warnings and empty fields.
        aria-label={`${found}: ${barTexts.problemsButton(words)}`}
        onClick={() => {
          editor.select([])
          editor.set({ panel: 'properties' })
        }}
      >
        {found}
      </Button>
    </Tooltip>
  )
}

/** Opens a page of the blueprint as visitors see it: the deployed one. Nothing for a blueprint without pages, or inactive. */
function OpenPagesMenu() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const pages = useDeployedPages() ?? []
  const [only] = pages
  if (only === undefined) return null
  if (pages.length === 1 && isOpenable(only.path))
    return (
      <Tooltip label={barTexts.open(only.path)}>
        <ActionIcon
          component="a"
          href={only.path}
          target="_blank"
          rel="noopener"
          variant="default"
          size={30}
          aria-label={barTexts.openInTab(only.path)}
        >
          <Icon name="external" size={15} />
        </ActionIcon>
      </Tooltip>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={barTexts.openAPage}>
          <Icon name="external" size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
        {pages.map(({ block, path }) =>
          isOpenable(path) ? (
            <Menu.Item key={block} component="a" href={path} target="_blank" rel="noopener">
              {path}
            </Menu.Item>
          ) : flow.has(block) ? (
            // The panel of its block asks for the parameters.
            <Menu.Item key={block} onClick={() => editor.focusPin(block, '')}>
              {path} …
            </Menu.Item>
          ) : null,
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Opens the panel of past runs. A dot on it says that runs are traced, or that one is paused. */
function RunsButton() {
  const editor = useEditor()
  const panel = useEditorState((state) => state.panel)
  const isTraced = useTracing().data?.on === true
  const paused = usePausedRuns().data?.length ?? 0
  const isOpen = panel === 'runs'
  const state = paused > 0 ? barTexts.oneIsPaused : isTraced ? barTexts.beingTraced : ''
  return (
    <Tooltip label={barTexts.runsNow(state)}>
      <ActionIcon
        variant={isOpen ? 'light' : 'default'}
        size={30}
        aria-label={barTexts.runsNow(state)}
        aria-pressed={isOpen}
        className={classes.runs}
        data-state={paused > 0 ? 'paused' : isTraced ? 'traced' : undefined}
        onClick={() => editor.set({ panel: isOpen ? 'properties' : 'runs' })}
      >
        <Icon name="operate" size={16} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Shows the preview beside the drawing; only where the blueprint has a page. */
function PreviewButton() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const isOpen = useEditorState((state) => state.isPreviewing)
  const hasPages = useMemo(() => pagesOf(flow).length > 0, [flow])
  if (!hasPages) return null
  return (
    <Button
      size="xs"
      variant={isOpen ? 'light' : 'default'}
      aria-pressed={isOpen}
      onClick={() => editor.set({ isPreviewing: !isOpen })}
    >
      {tryTexts.preview}
    </Button>
  )
}
