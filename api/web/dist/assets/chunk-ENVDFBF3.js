var n={conversion:"Conversion",export:"Page export",transcription:"Transcription",pdf:"PDF operation"};export{n as a};
