import{m as f,n as u}from"./chunk-HEVLXYYD.js";function h(t){let n=/^(---|\+\+\+)[ \t]*\r?\n/.exec(t);if(!n)return null;let r=new RegExp(`^${n[1]==="---"?"(?:---|\\.\\.\\.)":"\\+\\+\\+"}[ \\t]*$`,"m"),e=n[0].length,s=t.slice(e,e+64e3),o=r.exec(s);if(!o)return null;let i=n[1]==="+++",c=[],a=e;for(let l of s.slice(0,o.index).split(`
`).slice(0,-1)){let g=a+l.length+1;if(i&&/^\s*\[/.test(l))break;let m=(i?/^([\w-]+)\s*=\s*(.*)$/:/^([\w-]+)\s*:(?:\s+(.*))?$/).exec(l.replace(/\r$/,""));if(m)c.push({key:m[1],value:m[2]??"",from:a,to:g});else if(c.length&&l.trim()&&!l.startsWith("#")){let w=c[c.length-1];w.value+=`
`+l,w.to=g}a=g}return{toml:i,body:e,end:e+o.index,entries:c}}function b(t){let n={};for(let r of h(t)?.entries??[])n[r.key]=d(r.value);return n}function N(t,n){let r=e=>t.slice(0,e).split(`
`).length;return h(t)?.entries.find(e=>r(e.from)<=n&&n<r(e.to))?.key}function d(t){let n=t.trim();if(n.startsWith('"')){let s=/^"((?:[^"\\]|\\.)*)"/.exec(n);if(s)try{return JSON.parse(`"${s[1]}"`)}catch{return s[1]}}let r=/^'((?:[^']|'')*)'/.exec(n);if(r)return r[1].replaceAll("''","'");let e=/^\[(.*)\]$/s.exec(n);return e?e[1].split(",").map(d).join(", "):n.startsWith("- ")?n.split(`
`).map(s=>d(s.replace(/^\s*-\s*/,""))).join(", "):n.replace(/\s+#.*$/,"")}function P(t){let n={};for(let r of t.matchAll(/(top|right|bottom|left)\s*[:=]\s*["']?([\d.]+\s*[a-z]*)/g))n[r[1]]=r[2];return n}function W(t){let n=Object.entries(t).filter(([,r])=>r);return n.length?`{ ${n.map(([r,e])=>`${r}: ${e}`).join(", ")} }`:""}function x(t,n,r){let e=h(t),s=r===null?"":typeof r=="string"?O(r):String(r);if(!e)return r===null?null:{from:0,to:0,insert:`---
${n}: ${s}
---

`};let o=r===null?"":e.toml?`${n} = ${typeof r=="string"&&!r.startsWith("{")?JSON.stringify(r):s}
`:`${n}: ${s}
`,i=e.entries.find(a=>a.key===n);if(i){if(r===null&&e.entries.length===1&&t.slice(e.body,e.end).trim()===t.slice(i.from,i.to).trim()){let l=/^[^\n]*\n?(?:[ \t]*\r?\n)?/.exec(t.slice(e.end))[0];return{from:0,to:e.end+l.length,insert:""}}return t.slice(i.from,i.to)===o?null:{from:i.from,to:i.to,insert:o}}if(r===null)return null;let c=e.entries.length?e.entries[e.entries.length-1].to:e.body;return{from:c,to:c,insert:o}}function O(t){return t.startsWith("{")&&t.endsWith("}")&&t.includes(": ")||/^[A-Za-z][\w .\/()-]*$/.test(t)&&t.trim()===t&&!/^(true|false|null|yes|no|on|off)$/i.test(t)?t:JSON.stringify(t)}var z=`---
title: The quiet craft of printing
author: Presswork
theme: light
---

# The quiet craft of printing

Write on the left; the page on the right is the page that is printed. Pick a
**theme**, or let Presswork read the text and choose one.

## What it supports

- tables, footnotes[^1], task lists, captions and notes
- code in colour, and formulas such as $e^{i\\pi} + 1 = 0$
- diagrams, a table of contents, a cover, PDF/A

> [!TIP]
> Drop a picture or a Markdown file anywhere on this page, or paste a web page:
> it becomes Markdown.

| Paper  | Size        | Good for  |
| ------ | ----------- | --------- |
| A4     | 210 × 297 mm | reports  |
| A5     | 148 × 210 mm | booklets |
| Letter | 8.5 × 11 in  | the mail |

\`\`\`python
def press(page):
    return f"{page} is ready to be printed"
\`\`\`

Press **Convert** when it looks right.

[^1]: Like this one.
`,p=f(""),R=f([]),v=f({}),S=f("pdf"),$=u(()=>b(p.value)),E=f({}),T=u(()=>$.value.theme??"light");function A(t){return b(t).title||/^#\s+(.+)$/m.exec(t)?.[1]?.trim()||"Untitled"}var D=u(()=>A(p.value)),y=()=>{};function I(t){y=t}function L(t,n){let r=x(p.value,t,n);r&&y(r)}function U(t){let r=p.value;for(let[e,s]of t){let o=x(r,e,s);o&&(r=r.slice(0,o.from)+o.insert+r.slice(o.to))}j(r)}function j(t){let n=p.value;if(t===n)return;let r=Math.min(n.length,t.length),[e,s]=[0,0];for(;e<r&&n[e]===t[e];)e++;for(;s<r-e&&n.at(-1-s)===t.at(-1-s);)s++;y({from:e,to:n.length-s,insert:t.slice(e,t.length-s)})}function C(t){return p.value.includes(t)||p.value.includes(encodeURI(t))}function k(){return R.value.filter(t=>C(t.name))}function B(t={}){let n=Object.fromEntries(Object.entries(v.value).filter(([,s])=>s)),r=k();if(!r.length)return{options:n,init:{headers:{"Content-Type":"application/json"},body:JSON.stringify({content:p.value,options:n,...t})}};let e=new FormData;e.set("content",p.value),e.set("options",JSON.stringify(n));for(let[s,o]of Object.entries(t))e.set(s,o);for(let s of r)e.append(`assets[${s.name}]`,s.file,s.name);return{options:n,init:{body:e}}}function F(t){let n=k(),{password:r,...e}=t;r&&(e.password="…");let[s,o]={pdf:["application/pdf","pdf"],html:["text/html","html"],epub:["application/epub+zip","epub"],png:["application/zip","zip"]}[S.value],i={accept:s,output:"document."+o};if(n.length)return{...i,path:"/api/conversion",fields:Object.keys(e).length?{options:JSON.stringify(e)}:{},files:[{field:"content",name:"document.md"},...n.map(l=>({field:`assets[${l.name}]`,name:l.name}))]};let c=new URLSearchParams;$.value.theme||c.set("theme","light"),Object.keys(e).length&&c.set("options",JSON.stringify(e));let a=c.toString();return{...i,path:"/api/conversion"+(a&&"?"+a),file:"document.md",type:"text/markdown"}}export{N as a,P as b,W as c,z as d,p as e,R as f,v as g,S as h,$ as i,E as j,T as k,A as l,D as m,I as n,L as o,U as p,j as q,C as r,k as s,B as t,F as u};
