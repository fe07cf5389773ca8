import type { Recording } from '../core/recording';
import type { TableName } from '../core/schema';
import type { Selection } from '../core/selection';
import type { Tasks } from '../core/tasks';
import type { GestureHandlers } from '../draw/gestures';
import type { ColorRegistry } from '../draw/palette';
import type { Box, Pen } from '../draw/pen';
import type { Surface } from '../draw/surface';
import type { Card } from '../draw/tooltip';
import type { Viewport } from '../draw/viewport';

/**
 * How to write a panel.
 *
 * A panel is one object in one file, and one line in `index.ts`. It draws; it
 * never talks to a kernel, never schedules a frame, never looks outside what
 * it is given. `mount.ts` puts it into a page and does everything that panels
 * have in common: the header with its chips and actions, the surface, frames,
 * gestures and keys, the hover card and its pin, the live region, words for an
 * empty panel, "show as table", and saving as PNG and SVG.
 *
 * The life of a view: `create` once, then whenever rows of one of the panel's
 * `tables` arrive, or the size, the theme or the selection changes, `layout`,
 * then `draw` and `drawOverlay`, all at most once a frame and only while the
 * panel can be seen. When only the viewport has moved: `draw`. When only the
 * pointer has: `drawOverlay`.
 *
 * To be quick with a million rows: keep what depends on data in typed arrays,
 * renewed in `layout` (compare `table.rows` with what you had), and let `draw`
 * cost what the pixels cost.
 */
export interface Panel {
  /** Kebab-case; also the `source` of the panel's clauses in the selection. */
  readonly id: string;
  /** Its name wherever a person reads it; see LOOK's list of names. */
  readonly title: string;
  /** Tables it reads: the view is laid out again when rows of these arrive. */
  readonly tables: readonly TableName[];
  /** Those of them that are worked out, while a run goes on, only for as long as the view asks for them. */
  readonly onRequest?: readonly TableName[];
  /**
   * True for a chart over time: wheel, drag, keys and double-click then move
   * the shared viewport, Shift and drag sets the time clause of the selection,
   * and the cursor line of all such charts is drawn. False: the panel gets
   * gestures through `PanelView.gestures`, if it wants any.
   */
  readonly overTime: boolean;
  /** True where it tells of the whole run, whatever other panels have chosen. */
  readonly isWhole?: true;
  create(context: PanelContext): PanelView;
}

/** What the panels of one page share. Made by `createStage`. */
export interface Stage {
  readonly recording: Recording;
  /** Attempts joined with what their workers saw, in lanes; kept up to date. */
  readonly tasks: Tasks;
  readonly selection: Selection;
  /** The time that all charts over time show. */
  readonly viewport: Viewport;
  /** Colours of task names, the same in every panel. */
  readonly colors: ColorRegistry;
  /** True where rows come as things happen, false where they are parts of a recording that has ended. */
  readonly live: boolean;
}

export interface PanelContext extends Stage {
  /** Size, theme, `invalidate`. */
  readonly surface: Surface;
  /** Says something to those who listen instead of look (a polite live region). */
  say(words: string): void;
  /** Says whether the view wants its tables `onRequest`; not there where nothing is worked out. */
  readonly request?: ((wanted: boolean) => void) | undefined;
}

/** Something in the picture that can be hovered, chosen, read out. */
export interface Mark {
  /** Two marks with the same id are the same thing. */
  readonly id: number | string;
  /** Where it is, CSS pixels in the surface: the card keeps clear of it. */
  readonly box: Box;
  /** True where it says what a click on it does: once that is done, no card of it stays. */
  readonly acts?: true;
  /** What the card says; called when the mark comes under the pointer, and at each layout while it is there. */
  card(): Card;
  /** One line for the live region. */
  words(): string;
}

export type Direction = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

/** A colour and what it stands for. */
export interface Sign {
  readonly color: string;
  readonly label: string;
}

/** Rows for "show as table" and for copying: plain text, as a person would want to paste it. */
export interface TableRows {
  readonly columns: readonly {
    readonly title: string;
    /** Its cells are numbers: they stand at the right and are sorted from the largest. */
    readonly numeric?: boolean;
    /** Of its numbers where they are unformatted. */
    readonly unit?: string | undefined;
    /** Its cells are sentences, which are read from the left. */
    readonly prose?: boolean;
  }[];
  readonly length: number;
  /** Follows the title in the caption: what is left out. */
  readonly note?: string;
  /** The cells of one row, formatted; called for the rows that are shown or copied. */
  row(index: number): readonly string[];
  /** Unformatted numbers, for copying and sorting; NaN or text where there is none. */
  value?(index: number, column: number): number | string;
}

/** What a screen reader walks through in place of the picture; no one sees it. */
export interface Reader {
  readonly role: 'tree' | 'grid' | 'listbox';
  readonly element: HTMLElement;
  /** Id of the element that is current. */
  active(): string | undefined;
}

export interface PanelView {
  /** In words, why there is nothing to show and what to do; undefined if there is something. */
  empty(): string | undefined;
  /** Height wanted at this width, CSS pixels. */
  height(width: number): number;
  /** True while it makes use of more height, or less, where its place has a height of its own; undefined if never. */
  readonly fills?: boolean;
  /** In words, what of all there is has been chosen in its controls: for a saved picture and for paper. */
  shows?(): string;
  /** Data, size, theme or selection may have changed: work out where everything stands. */
  layout(): void;
  /** Draws the whole picture; the background is filled. Must work with an SVG's pen too. */
  draw(pen: Pen): void;
  /** Whether something is drawn over the picture where the pointer is on no mark. */
  readonly isMarked?: boolean;
  /** Draws what goes with the pointer, over the picture; cursor line and brush are drawn already. */
  drawOverlay?(pen: Pen, hovered: Mark | undefined): void;
  /** What is at this place. */
  pick?(x: number, y: number): Mark | undefined;
  /** The neighbour of a mark, for the arrow keys; without a mark, the first one. */
  move?(from: Mark | undefined, direction: Direction): Mark | undefined;
  /** What a mark waited for last, or what waited for it first. */
  follow?(from: Mark, to: 'inputs' | 'dependents'): Mark | undefined;
  /** A mark was clicked, or Enter pressed on it; usually sets a clause. Without a mark: empty space. */
  choose?(mark: Mark | undefined, event: { readonly additive: boolean }): void;
  /** Takes gestures before the mount does; a handler that is given replaces the mount's. */
  readonly gestures?: GestureHandlers;
  /** Small controls for the header, at the right of the chips (a select, a search box). */
  readonly controls?: readonly HTMLElement[];
  /** Stands under the header, over the picture (a legend); a note is told in a saved picture, too. */
  readonly above?: HTMLElement;
  /** What the colours mean, for a saved picture; for a panel whose legend is not in its drawing. */
  signs?(): readonly Sign[];
  /** Stands under the picture. */
  readonly below?: HTMLElement;
  /** `/` puts the cursor into this. */
  readonly search?: HTMLInputElement;
  /** The same content as a table; asked for when a person wants to see it. */
  rows?(): TableRows;
  /** True where there is no picture: all of it stands in `below`. */
  readonly plain?: boolean;
  /** True where that is not to wait until it comes near the window: it stands at the top, and is short. */
  readonly prompt?: boolean;
  /** Stands for the picture where it is read out. */
  readonly reader?: Reader;
  /**
   * True while a chart over time shows an axis of its own: the shared time,
   * its gestures, keys and cursor line have no part in it then.
   */
  readonly ownAxis?: boolean;
  /** Where the plot is within the surface; needed by charts over time. CSS pixels. */
  plot?(): Box;
  /** The parts of it that are drawn on, where words stand between them: these do not fade. */
  boxes?(): readonly Box[];
  dispose?(): void;
}
