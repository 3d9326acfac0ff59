// Plots as SVG text, by ECharts without a browser. One file serves light and dark: its text and axes follow the reader's scheme.
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

use([BarChart, LineChart, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, SVGRenderer]);

/** Stand for the colours of the reader's scheme until the text of the SVG is complete. */
const ink = '#010203';
const faint = '#030201';
/** Readable on white and on black. */
const colours = ['#3d85c6', '#d97b29', '#2f9e68', '#a86bc9', '#c94f6d'];
const style = `<style>
:root { --ink: #24292f; --faint: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --ink: #d1d7e0; --faint: #3d444d; } }
</style>`;

/**
 * `x` and `y` are axes: `{ name, type: 'log' | 'value' | 'category', values? }`, where `values` are the categories.
 * A series is `{ name, type: 'line' | 'bar', points, limit? }`; `limit` draws a dashed line at that value of `y`.
 */
export function plot({ title, x, y, series, width = 720, height = 360 }) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({
    animation: false,
    color: colours,
    title: { text: title, left: 'center', textStyle: { color: ink, fontSize: 15 } },
    // Without a browser the width of texts is a guess: wider gaps keep names from the next symbol.
    legend: { show: series.length > 1, bottom: 0, itemGap: 36, textStyle: { color: ink } },
    grid: { left: 70, right: 30, top: 45, bottom: series.length > 1 ? 75 : 50 },
    xAxis: axis(x, { nameLocation: 'middle', nameGap: 28 }),
    yAxis: { ...axis(y, { nameLocation: 'middle', nameGap: 50, nameRotate: 90 }), ...extent(y, series) },
    series: series.map(({ name, type, points, limit }) => ({
      name,
      type,
      data: points,
      symbol: 'circle',
      symbolSize: points.length > 50 ? 0 : 6,
      lineStyle: { width: points.length > 50 ? 1.5 : 2.5 },
      ...(limit === undefined
        ? {}
        : { markLine: { silent: true, symbol: 'none', label: { color: ink }, data: [{ yAxis: limit }] } }),
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg
    .replace(/>/, () => ` role="img">\n<title>${title}</title>\n${style}`)
    .replaceAll(ink, 'var(--ink)')
    .replaceAll(faint, 'var(--faint)')}\n`;
}

/** The axis reaches every limit, and bars of a logarithmic axis begin at its end, not at 1. */
function extent({ type }, series) {
  const limits = series.flatMap(({ limit }) => limit ?? []);
  const largest = Math.max(0, ...limits);
  const max = { max: (given) => (given.max < largest ? Math.ceil(largest * 1.2) : null) };
  if (type !== 'log' || !series.some((each) => each.type === 'bar')) return max;
  const values = series.flatMap(({ points }) => points).filter((value) => value > 0);
  const min = 10 ** Math.floor(Math.log10(Math.min(...values)));
  return { ...max, min, startValue: min };
}

function axis({ name, type, values }, placement) {
  return {
    type,
    name,
    ...placement,
    ...(values === undefined ? {} : { data: values }),
    nameTextStyle: { color: ink },
    axisLabel: { color: ink },
    axisLine: { lineStyle: { color: ink } },
    axisTick: { lineStyle: { color: ink } },
    splitLine: { lineStyle: { color: faint } },
    minorTick: { lineStyle: { color: faint } },
  };
}
